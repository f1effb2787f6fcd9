"""Words that stand beside names, for names, or look like names and are none; all folded but one."""

from types import MappingProxyType

TITLES = frozenset(
    """mr mrs ms miss dr prof professor sir dame lord lady king queen prince princess president
    minister secretary senator governor mayor judge justice captain coach manager chief executive
    director chairman chairwoman chair officer general colonel sergeant bishop pope father
    sister brother saint st former ex vice deputy prime head detective inspector herr herrn frau
    monsieur madame senor senora""".split()  # noqa: SIM905
)
"""Words beside a name that are no part of it."""

COMMON_CAPITALS = frozenset(
    """TV CEO CFO COO CTO DNA PM AM OK ID IT PC UK US USA EU UN MP MPs PhD DVD CD FAQ PDF URL API
    AI HR PR VIP YoY II III IV VI VII VIII IX XI XII UNK SEP PAD CLS""".split()  # noqa: SIM905
)
"""Words in capitals that are used as common words, and numerals."""

_PEOPLES = """afghanistan:afghan albania:albanian algeria:algerian argentina:argentine,argentinian
    australia:australian,aussie austria:austrian bangladesh:bangladeshi belgium:belgian
    bolivia:bolivian brazil:brazilian,brasil britain:british,briton,britons,uk bulgaria:bulgarian
    canada:canadian,canadians chile:chilean china:chinese colombia:colombian croatia:croatian,croat
    cuba:cuban cyprus:cypriot czechia:czech denmark:danish,dane,danes egypt:egyptian
    england:english estonia:estonian ethiopia:ethiopian europe:european,eu finland:finnish,finn
    france:french,frenchman frankreich:franzosisch germany:german deutschland:deutsch
    ghana:ghanaian greece:greek holland:dutch,netherlands hungary:hungarian iceland:icelandic
    india:indian indonesia:indonesian iran:iranian iraq:iraqi ireland:irish,irishman israel:israeli
    italy:italian jamaica:jamaican japan:japanese jordan:jordanian kenya:kenyan korea:korean
    kuwait:kuwaiti latvia:latvian lebanon:lebanese libya:libyan lithuania:lithuanian
    malaysia:malaysian mali:malian malta:maltese mexico:mexican morocco:moroccan
    myanmar:burmese,burma nepal:nepalese netherlands:dutch,holland nigeria:nigerian
    norway:norwegian oman:omani
    pakistan:pakistani palestine:palestinian panama:panamanian peru:peruvian
    philippines:filipino,philippine,filipina poland:polish,pole,poles portugal:portuguese
    qatar:qatari romania:romanian russia:russian scotland:scottish,scots,scot serbia:serbian,serb
    singapore:singaporean slovakia:slovak slovenia:slovenian somalia:somali spain:spanish,spaniard
    sudan:sudanese sweden:swedish,swede switzerland:swiss syria:syrian taiwan:taiwanese
    tanzania:tanzanian thailand:thai tunisia:tunisian turkey:turkish,turk,turkiye uganda:ugandan
    ukraine:ukrainian venezuela:venezuelan vietnam:vietnamese wales:welsh yemen:yemeni
    zambia:zambian zimbabwe:zimbabwean cornwall:cornish quebec:quebecois"""


def _countries() -> dict[str, tuple[str, ...]]:
    groups = [entry.replace(":", ",").split(",") for entry in _PEOPLES.split()]
    named: dict[str, tuple[str, ...]] = {}
    for group in groups:
        for word in group:
            named[word] = (*named.get(word, ()), *(other for other in group if other != word))
    return named


COUNTRIES = MappingProxyType(_countries())
"""Country, or its people -> the other words for either."""
