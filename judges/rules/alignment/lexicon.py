"""Closed sets of English words that decide whether two nearly equal sentences contradict."""

from collections.abc import Iterator, Mapping
from itertools import product
from types import MappingProxyType

from spanjury.judges.rules.lexicon import FUNCTION_WORDS
from spanjury.judges.rules.stems import stem

_FORMS = MappingProxyType(
    {
        "arose": "arise",
        "ate": "eat",
        "eaten": "eat",
        "beaten": "beat",
        "bitten": "bite",
        "bit": "bite",
        "chased": "chase",
        "forbade": "forbid",
        "forbidden": "forbid",
        "forgot": "forget",
        "forgotten": "forget",
        "hidden": "hide",
        "hid": "hide",
        "lent": "lend",
        "liked": "like",
        "likes": "like",
        "lowest": "low",
        "sank": "sink",
        "sunk": "sink",
        "shrank": "shrink",
        "shrunk": "shrink",
        "shook": "shake",
        "shaken": "shake",
        "sat": "sit",
        "slept": "sleep",
        "swept": "sweep",
        "tells": "tell",
        "told": "tell",
        "victories": "victory",
    }
)

# Two sides, each with words that may stand for one another; the sides exclude one another.
_OPPOSITES = """
rise rises rose risen rising increase increased increasing increases climb climbed grow grew grown \
/ fall falls fell fallen falling decrease decreased decreasing decreases decline declined drop dropped shrink shrank
gain gains gained gaining / lose loses lost losing
win wins won winning / lose loses lost losing
victory victories win / defeat defeats loss
profit profits / loss losses
before / after
above / below
over / under
up / down
upward upwards / downward downwards
inside / outside
indoors indoor / outdoors outdoor
more / fewer less
most / least
many / few
maximum / minimum
majority / minority
higher / lower
highest / lowest
high / low
larger bigger / smaller
largest biggest / smallest
large big / small little
longer / shorter
longest / shortest
long / short
older / younger
oldest / youngest
old / young
faster / slower
fastest / slowest
fast / slow
stronger / weaker
strongest / weakest
strong / weak
warmer hotter / colder cooler
warmest hottest / coldest
hot warm / cold
better / worse
best / worst
cheaper / dearer
cheapest / dearest
cheap / expensive
richer / poorer
richest / poorest
rich / poor
earlier / later
early / late
easy easier easiest / difficult harder hardest
heavier / lighter
deeper / shallower
wider / narrower
thick / thin
wet / dry
clean / dirty
safe / dangerous unsafe
full / empty
asleep / awake
alive / dead
guilty / innocent
public / private
domestic / foreign
internal / external
positive / negative
optimistic / pessimistic
temporary / permanent
voluntary / mandatory compulsory
male / female
man men / woman women
boy boys / girl girls
father fathers / mother mothers
son sons / daughter daughters
brother brothers / sister sisters
husband husbands / wife wives
uncle / aunt
north northern / south southern
east eastern / west western
north northern / east eastern
north northern / west western
south southern / east eastern
south southern / west western
morning / evening afternoon
daily / weekly monthly yearly annual
weekly / monthly yearly annual
monthly / yearly annual
ascending / descending
top / bottom
upper / lower
senior / junior
major / minor
accept accepts accepted accepting approve approved / reject rejects rejected rejecting decline declined
allow allows allowed allowing permit permitted / ban bans banned banning forbid forbidden prohibit prohibited
open opens opened opening / close closes closed closing shut
include includes included including / exclude excludes excluded excluding
support supports supported supporting / oppose opposes opposed opposing
agree agrees agreed / disagree disagrees disagreed
confirm confirms confirmed confirming admit admits admitted / deny denies denied denying
succeed succeeds succeeded succeeding / fail fails failed failing
success / failure
pass passes passed passing / fail fails failed failing
convict convicted conviction / acquit acquitted acquittal
start starts started starting begin begins began begun / end ends ended ending finish finished stop stopped
arrive arrives arrived arriving arrival / depart departs departed departing departure
buy buys bought buying / sell sells sold selling
borrow borrows borrowed / lend lends lent
hire hires hired hiring / fire fires fired firing dismiss dismissed sack sacked
add adds added adding / remove removes removed removing
expand expands expanded expanding / shrink shrank contract contracted
improve improves improved improving / worsen worsens worsened deteriorate deteriorated
strengthen strengthens strengthened / weaken weakens weakened
accelerate accelerated / slow slowed decelerate decelerated
remember remembers remembered / forget forgets forgot forgotten
love loves loved loving / hate hates hated hating
import imports imported / export exports exported
credit / debit
push pushed / pull pulled
attack attacked / defend defended
sit sits sitting sat / stand stands standing stood
always / never
everyone everybody / nobody
everything / nothing
single / double
first / last
same / different
together / apart
simple / complicated complex
friend friends / enemy enemies
often frequently / rarely seldom
urban / rural
vacant / occupied
future / past
join joins joined joining / leave leaves left leaving quit
enter enters entered entering / exit exits exited leave leaves left leaving
teacher teachers / student students pupil pupils
doctor doctors / patient patients
employer employers / employee employees
landlord landlords / tenant tenants
buyer buyers / seller sellers
plaintiff / defendant
win / loss
hiring / layoffs
expensive / inexpensive
present / absent
true / false
correct right / incorrect wrong
"""

_AFFIXED = """possible probable likely able happy legal lawful safe fair correct accurate available
necessary common successful clear eligible sufficient adequate regular responsible honest loyal
valid active armed paid aware certain comfortable expected familiar finished harmed healthy
important injured known limited married popular reliable stable sure usual wanted welcome willing
affected changed employed complete consistent convenient dependent direct effective efficient
tolerant visible patient perfect polite mature moral mortal relevant resistible reversible
satisfied similar connected appeared agree approve like obey continue""".split()  # noqa: SIM905
_PREFIXES = ("un", "in", "im", "il", "ir", "dis")
_PREFIXED = frozenset(
    """impossible improbable unlikely unhappy illegal unlawful unsafe unfair incorrect inaccurate
    unavailable unnecessary uncommon unsuccessful unclear ineligible insufficient inadequate
    irregular irresponsible dishonest disloyal invalid inactive unarmed unpaid unaware uncertain
    uncomfortable unexpected unfamiliar unfinished unharmed unhealthy unimportant uninjured unknown
    unlimited unmarried unpopular unreliable unstable unsure unusual unwanted unwelcome unaffected
    unchanged unemployed incomplete inconsistent inconvenient independent indirect ineffective
    inefficient intolerant invisible impatient imperfect impolite immature immoral irrelevant
    dissatisfied dissimilar disapprove dislike disobey""".split()  # noqa: SIM905
)


def _positive(word: str) -> str:
    """Take the negative prefix off."""
    return next(
        word.removeprefix(prefix)
        for prefix in _PREFIXES
        if word.startswith(prefix) and word.removeprefix(prefix) in _AFFIXED
    )


NEGATIVE_FORMS: Mapping[str, str] = MappingProxyType({word: _positive(word) for word in _PREFIXED})
"""Words with a negative prefix -> what they deny."""


def key(word: str) -> str:
    """Return what the forms of a folded word have in common.

    Examples
    --------
    >>> key("beaten") == key("beat"), key("fell") == key("falling")
    (True, True)
    """
    return stem(_FORMS.get(word, word))


def _sides() -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Yield the keys of the two sides of each line of opposites."""
    for line in _OPPOSITES.strip().splitlines():
        one, other = line.split("/")
        yield frozenset(map(key, one.split())), frozenset(map(key, other.split()))


def _opposites() -> dict[str, frozenset[str]]:
    """Map each key to those that exclude it."""
    found: dict[str, set[str]] = {}
    for one, other in _sides():
        for left, right in product(one, other):
            found.setdefault(left, set()).add(right)
            found.setdefault(right, set()).add(left)
    return {word: frozenset(others - {word}) for word, others in found.items()}


OPPOSITES: Mapping[str, frozenset[str]] = MappingProxyType(_opposites())
"""Key of a word -> keys of words that exclude it."""

_ALIGNED = frozenset((*_OPPOSITES.split(), "like", "tell", "tells", "told"))
LIGHT = (
    FUNCTION_WORDS
    | frozenset(
        """shan ll ve re em gonna mr mrs ms dr sir also added adds explained remarked per
        approximately approx circa""".split()  # noqa: SIM905
    )
) - _ALIGNED
"""Words that are not aligned: they carry grammar, and what they say is kept beside the next word."""

NEGATORS = frozenset(
    "not never no nor neither without nobody none nothing nowhere nt".split()  # noqa: SIM905
)
"""Words that deny the next word."""

INFINITIVE_NEGATORS = frozenset(
    """fail fails failed failing refuse refuses refused refusing decline declines declined declining
    unable unwilling neglected neglects""".split()  # noqa: SIM905
)
"""Words that deny the next word with ``to`` between them."""

HARMLESS_AFTER_NO = frozenset(
    "doubt matter less more fewer sooner wonder sign problem worries way later".split()  # noqa: SIM905
)
"""Words that make ``no`` something else than a denial of a fact."""

PREPOSITIONS = frozenset("in on at of by to for with from into about".split())  # noqa: SIM905
"""Words that make an adverbial of a noun, whose denial does not deny the sentence."""

MODALS = frozenset("could may might must should would".split())  # noqa: SIM905
"""Verbs that say what is possible or due, not what is."""

BLURRING = frozenset(
    """until till unless only just merely simply necessarily hardly barely scarcely rarely seldom
    whether but except if yet all every always entirely fully completely both exactly quite
    particularly or than wait alone""".split()  # noqa: SIM905
)
"""Words near a denial that make its reach uncertain."""

REPORTING = frozenset("said says say saying added adds told tells explained remarked".split())  # noqa: SIM905
"""Verbs that name the speaker of a quote."""

DETERMINERS = frozenset("the a an his her its their".split())  # noqa: SIM905
"""Articles and possessives that begin a phrase."""

JOINING = frozenset(
    """and or with between versus vs v nor as while when because since if for where after before
    plus & , ; ( ) :""".split()  # noqa: SIM905
)
"""Words and marks that join two names, or two clauses, as equals."""

BE = frozenset("is are was were be been being am get gets got".split())  # noqa: SIM905
"""Verbs that make a passive."""

SYMMETRIC = frozenset(
    map(
        key,
        """meet met marry married wed play played face faced join joined resemble equal match
        separate divorce divorced talk spoke speak chat argue argued agree disagree fight fought
        share shared date dated compete collaborate cooperate merge merged brother sister friend
        colleague partner rival neighbour neighbor cousin twin teammate opponent ally sibling
        relative classmate roommate flatmate become remain seem stay tie tied draw drew border
        differ different same similar near plus minus and next close beside opposite contact and both game clash
        tie friendly final semi semifinal quarter score between versus vs v against border link
        connect connected combine combined mix mixed compare compared include including such
        namely call called name named know known""".split(),
    )
)
"""Words on whose two sides names may change places without a change of meaning."""

_UNITS = """
length: metre meter metres meters / kilometre kilometer kilometres kilometers km kms / mile miles / foot feet ft / inch inches / yard yards / centimetre centimetres centimeter centimeters cm / millimetre millimetres millimeter millimeters mm
weight: gram grams gramme grammes g / kilogram kilograms kilo kilos kg / tonne tonnes ton tons / pound pounds lb lbs / ounce ounces oz / milligram milligrams mg / microgram micrograms mcg
volume: litre litres liter liters l / millilitre millilitres milliliter milliliters ml / gallon gallons / pint pints / barrel barrels
time: second seconds sec secs / minute minutes min mins / hour hours hr hrs / day days / week weeks / month months / year years yr yrs / decade decades / century centuries
area: acre acres / hectare hectares
energy: watt watts w / kilowatt kilowatts kw / megawatt megawatts mw / gigawatt gigawatts gw
data: kilobyte kilobytes kb / megabyte megabytes mb / gigabyte gigabytes gb / terabyte terabytes tb
money: $ dollar dollars usd / £ gbp sterling / € euro euros eur / ¥ yen / rupee rupees / cent cents / penny pence
share: percent % / degree degrees / point points
"""


def _units() -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each word for a unit with its dimension and its name."""
    for line in _UNITS.strip().splitlines():
        dimension, _, rest = line.partition(":")
        for names in rest.split("/"):
            for word in names.split():
                yield word, (dimension, names.split()[0])


UNITS: Mapping[str, tuple[str, str]] = MappingProxyType(dict(_units()))
"""Words for units -> dimension and unit."""

ORDINALS = frozenset(
    "first second third fourth fifth sixth seventh eighth ninth tenth".split()  # noqa: SIM905
)
"""Ordinals in words."""
