"""Words that exclude one another, and words with a negative prefix."""

from collections.abc import Mapping
from types import MappingProxyType

from spanjury.judges.rules.alignment.keys import excluding

# Each line has two sides; words of one side are interchangeable and exclude those of the other.
_OPPOSITES = """
rise rises rose risen rising increase increased increasing increases climb climbed grow grew \
grown raise raises raised raising boost boosts boosted boosting \
/ fall falls fell fallen falling decrease decreased decreasing decreases decline declined drop \
dropped shrink shrank reduce reduces reduced reducing lowered lowering cut halve halves halved
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
accept accepts accepted accepting approve approved / reject rejects rejected rejecting decline \
declined
allow allows allowed allowing permit permitted / ban bans banned banning forbid forbidden \
prohibit prohibited
open opens opened opening / close closes closed closing shut
include includes included including / exclude excludes excluded excluding
support supports supported supporting / oppose opposes opposed opposing
agree agrees agreed / disagree disagrees disagreed
confirm confirms confirmed confirming admit admits admitted / deny denies denied denying
succeed succeeds succeeded succeeding / fail fails failed failing
success / failure
pass passes passed passing / fail fails failed failing
convict convicted conviction / acquit acquitted acquittal
start starts started starting begin begins began begun / end ends ended ending finish finished \
stop stopped
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
exceed exceeds exceeded exceeding / miss misses missed missing undershot
praise praises praised praising welcome welcomes welcomed welcoming \
/ criticise criticises criticised criticising criticize criticizes criticized criticizing \
condemn condemns condemned condemning
appear appears appeared appearing / disappear disappears disappeared disappearing vanish vanished
create creates created creating build builds built building \
/ destroy destroys destroyed destroying demolish demolishes demolished demolishing
encourage encourages encouraged encouraging / discourage discourages discouraged discouraging
cause causes caused causing / prevent prevents prevented preventing
appoint appoints appointed appointing / dismiss dismisses dismissed dismissing
enable enables enabled enabling / disable disables disabled disabling
advance advances advanced advancing / retreat retreats retreated retreating
left / right
front / back rear
tall / short
near / far
required mandatory compulsory / optional
winner winners / loser losers
healthy / ill sick
bright / dark
quiet / loud noisy
heavy / light
vertical vertically / horizontal horizontally
legal lawful / banned forbidden prohibited
advantage advantages benefit benefits / disadvantage disadvantages drawback drawbacks
surplus / deficit shortage
ally allies / opponent opponents enemy enemies
import imports imported importing / export exports exported exporting
true / false
correct right / incorrect wrong
"""

# The same for words that describe one event from its two sides.
_CONVERSES = """
beat beats beaten beating defeat defeats defeated overcome overcame win wins won winner \
/ lose loses lost losing loser
buy buys bought buyer / sell sells sold seller
borrow borrows borrowed borrower / lend lends lent lender
give gives gave given giver / receive receives received get gets got receiver recipient
teach teaches teacher / learn learns learned learnt study studied pupil student learner
follow follows followed follower successor / precede precedes preceded predecessor
inherit inherits inherited heir / bequeath bequeaths bequeathed
sue sues sued plaintiff / defend defends defended defendant
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
    """Remove the negative prefix."""
    return next(
        word.removeprefix(prefix)
        for prefix in _PREFIXES
        if word.startswith(prefix) and word.removeprefix(prefix) in _AFFIXED
    )


NEGATIVE_FORMS: Mapping[str, str] = MappingProxyType({word: _positive(word) for word in _PREFIXED})
"""Word with a negative prefix -> the word that it denies."""


OPPOSITES = excluding(_OPPOSITES)
"""Key of a word -> keys of words that exclude it."""

CONVERSES = excluding(_CONVERSES)
"""Key of a word -> keys of words for the same event with its roles exchanged."""

OPPOSITE_WORDS = frozenset(_OPPOSITES.split()) - {"/"}
"""All words that have an opposite in this module."""
