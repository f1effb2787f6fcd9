"""Closed sets of English words for the rules, folded as by `fold_word`."""

from types import MappingProxyType

FUNCTION_WORDS = frozenset(
    """a an the of in on at to for from by with without within and or but nor so as than if then
    because while although though until till unless since through throughout during before after
    above below between among against about around across along into onto upon over under up down
    out off near per via is are was were be been being am isn aren wasn weren has have had having
    hasn haven hadn do does did done doing don doesn didn will would wouldn shall should
    shouldn can cannot couldn could may might must mustn not no it its itself he him his himself
    she her hers herself they them their theirs themselves we us our ours ourselves i me my mine
    myself you your yours yourself this that these those there here who whom whose which what when
    where why how also very just only own same such more most less least much many some any all
    both each every either neither few other others another one ones again once ever never
    always still yet too even rather quite almost already now soon later ago s t d m ll re ve
    said say says saying told tell tells according well back however instead including
    nearly roughly approximately like get gets got let lets""".split()  # noqa: SIM905 - so many read best so
)
"""Words that carry grammar rather than facts, including verbs that report speech."""

MONTHS = tuple(
    """january february march april may june july august september october november
    december""".split()  # noqa: SIM905 - so many read best so
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

SAME = MappingProxyType(
    {
        **{month[:3]: month for month in MONTHS if month != "may"},
        **{day[:3]: day for day in WEEKDAYS if day[:3] not in {"sat", "sun", "wed"}},
        "sept": "september",
        "tues": "tuesday",
        "thurs": "thursday",
        "cent": "percent",
        "pct": "percent",
        "eur": "euro",
        "usd": "dollar",
        "hr": "hour",
        "hrs": "hour",
        "min": "minute",
        "mins": "minute",
        "sec": "second",
        "secs": "second",
        "ml": "millilitre",
        "milliliter": "millilitre",
        "milliliters": "millilitre",
        "mm": "millimetre",
        "millimeter": "millimetre",
        "millimeters": "millimetre",
        "usa": "us",
        "america": "us",
        "american": "us",
        "americans": "us",
        "britain": "uk",
        "centimeter": "centimetre",
        "centimeters": "centimetre",
        "cm": "centimetre",
        "kg": "kilogram",
        "kilo": "kilogram",
        "kilos": "kilogram",
        "kilometer": "kilometre",
        "kilometers": "kilometre",
        "km": "kilometre",
        "kms": "kilometre",
        "liter": "litre",
        "liters": "litre",
        "meter": "metre",
        "meters": "metre",
        "british": "uk",
    }
)
"""Word -> the word that it is treated as equal to."""

IRREGULAR = MappingProxyType(
    dict(
        pair.split(":")
        for pair in """
        became:become began:begin begun:begin bought:buy broke:break broken:break brought:bring
        built:build came:come caught:catch children:child chose:choose chosen:choose death:die
        dead:die died:die dies:die drew:draw drawn:draw drove:drive driven:drive fell:fall
        fallen:fall felt:feel fought:fight found:find gave:give given:give goes:go gone:go grew:grow
        grown:grow heard:hear held:hold kept:keep killed:kill knew:know known:know left:leave
        led:lead lost:lose loss:lose made:make men:man met:meet paid:pay people:person ran:run
        rose:rise risen:rise saw:see seen:see sent:send shot:shoot sold:sell sale:sell sought:seek
        spent:spend spoke:speak spoken:speak stood:stand stole:steal stolen:steal struck:strike
        swore:swear taken:take took:take taught:teach thought:think threw:throw thrown:throw went:go
        wives:wife women:woman won:win winner:win wore:wear wrote:write written:write years:year
        """.split()  # noqa: SIM905 - so many read best so
    )
)
"""Irregular form -> the form from which its stem is made."""

GIVEN_NAMES = frozenset(
    """aaron adam alan alex alexander alice alison amanda amy andrea andrew angela ann anna anne
    anthony antonio ben benjamin beth brian bruce carl carlos carol caroline charles charlotte
    chris christian christina christine christopher claire colin craig daniel dave david dean
    deborah dennis derek diane donald dorothy doug douglas ed eddie edward elizabeth emily emma
    eric eva francis frank gareth gary geoff george gerard gordon graham greg hannah harry heather
    helen henry hugh ian jack jacob james jamie jane janet jason jean jeff jennifer jeremy jessica
    jim joan joe joel john jonathan jordan jose joseph joshua juan judith julia julian julie
    karen kate katherine kathleen keith kelly ken kenneth kevin kim laura lauren lee leo lewis
    liam linda lisa liz louis louise lucy luis luke margaret maria marie martin mary matt matthew
    megan michael michelle mike mohammed nancy natalie nathan neil nicholas nick nicola nigel
    oliver olivia owen pamela patricia patrick paul paula pedro peter phil philip rachel ralph
    raymond rebecca richard rob robert robin roger ron ronald rory ross ruth ryan sally sam
    samantha samuel sandra sara sarah scott sean sharon simon sophie stephanie stephen steve
    steven stuart sue susan thomas tim timothy tom tony tracy trevor victoria vincent walter
    wayne wendy william zoe""".split()  # noqa: SIM905 - so many read best so
)
"""Frequent given names in English news, for texts that write names in lower case."""
