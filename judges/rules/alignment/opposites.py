"""Words that exclude one another, and words with a negative prefix."""

from types import MappingProxyType

from spanjury.judges.rules.alignment.keys import excluding

# The words between two slashes are interchangeable and exclude all others of their line.
_OPPOSITES = """
rise rises rose risen rising increase increased increasing increases climb climbed grow grew \
grown raise raises raised raising boost boosts boosted boosting / fall falls fell fallen falling \
decrease decreased decreasing decreases decline declined drop dropped shrink shrank reduce \
reduces reduced reducing lowered lowering cut halve halves halved
gain gains gained gaining win wins won winning / lose loses lost losing
victory victories win / defeat defeats loss
profit profits / loss losses
upward upwards / downward downwards
indoors indoor / outdoors outdoor
more / fewer less
larger bigger / smaller
largest biggest / smallest
large big / small little
warmer hotter / colder cooler
warmest hottest / coldest
hot warm / cold
easy easier easiest / difficult harder hardest
safe / dangerous unsafe
voluntary / mandatory compulsory
man men / woman women
boy boys / girl girls
father fathers / mother mothers
son sons / daughter daughters
brother brothers / sister sisters
husband husbands / wife wives
north northern / south southern / east eastern / west western
morning / evening afternoon
daily / weekly / monthly / yearly annual
accept accepts accepted accepting approve approved / reject rejects rejected rejecting decline \
declined
allow allows allowed allowing permit permitted / ban bans banned banning forbid forbidden \
prohibit prohibited
open opens opened opening / close closes closed closing shut
include includes included including / exclude excludes excluded excluding
support supports supported supporting / oppose opposes opposed opposing
agree agrees agreed / disagree disagrees disagreed
confirm confirms confirmed confirming admit admits admitted / deny denies denied denying
succeed succeeds succeeded succeeding pass passes passed passing / fail fails failed failing
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
import imports imported importing / export exports exported exporting
push pushed / pull pulled
attack attacked / defend defended
sit sits sitting sat / stand stands standing stood
everyone everybody / nobody
simple / complicated complex
friend friends / enemy enemies
often frequently / rarely seldom
join joins joined joining / leave leaves left leaving quit
enter enters entered entering / exit exits exited leave leaves left leaving
teacher teachers / student students pupil pupils
doctor doctors / patient patients
employer employers / employee employees
landlord landlords / tenant tenants
buyer buyers / seller sellers
exceed exceeds exceeded exceeding / miss misses missed missing undershot
praise praises praised praising welcome welcomes welcomed welcoming / criticise criticises \
criticised criticising criticize criticizes criticized criticizing condemn condemns condemned \
condemning
appear appears appeared appearing / disappear disappears disappeared disappearing vanish vanished
create creates created creating build builds built building / destroy destroys destroyed \
destroying demolish demolishes demolished demolishing
encourage encourages encouraged encouraging / discourage discourages discouraged discouraging
cause causes caused causing / prevent prevents prevented preventing
appoint appoints appointed appointing / dismiss dismisses dismissed dismissing
enable enables enabled enabling / disable disables disabled disabling
advance advances advanced advancing / retreat retreats retreated retreating
front / back rear
required mandatory compulsory / optional
winner winners / loser losers
healthy / ill sick
quiet / loud noisy
vertical vertically / horizontal horizontally
legal lawful / banned forbidden prohibited
advantage advantages benefit benefits / disadvantage disadvantages drawback drawbacks
surplus / deficit shortage
ally allies / opponent opponents enemy enemies
correct right / incorrect wrong
"""
_PAIRS = """
before/after above/below over/under up/down inside/outside most/least many/few maximum/minimum
majority/minority higher/lower highest/lowest high/low longer/shorter longest/shortest
long/short older/younger oldest/youngest old/young faster/slower fastest/slowest fast/slow
stronger/weaker strongest/weakest strong/weak better/worse best/worst cheaper/dearer
cheapest/dearest cheap/expensive richer/poorer richest/poorest rich/poor earlier/later
early/late heavier/lighter deeper/shallower wider/narrower thick/thin wet/dry clean/dirty
full/empty asleep/awake alive/dead guilty/innocent public/private domestic/foreign
internal/external positive/negative optimistic/pessimistic temporary/permanent male/female
uncle/aunt ascending/descending top/bottom upper/lower senior/junior major/minor success/failure
credit/debit always/never everything/nothing single/double first/last same/different
together/apart urban/rural vacant/occupied future/past plaintiff/defendant win/loss
hiring/layoffs expensive/inexpensive present/absent left/right tall/short near/far bright/dark
heavy/light true/false
"""

# The same for words that describe one event from its two sides.
_CONVERSES = """
beat defeat overcome overcame win / lose
buy / sell
borrow / lend
give / receive get gets got recipient
teach / learn learnt study pupil student
follow successor / precede predecessor
inherit heir / bequeath
sue sued plaintiff / defend defendant
"""

# A line for each kind of things. Words between two slashes may stand for one another, or one may
# include the other; all others exclude one another where they are said of the same. Only one of
# several words with the same key is listed.
_KINDS = """
red scarlet crimson / blue navy turquoise / green turquoise / yellow golden gold / white / black \
/ brown / orange / purple violet / pink / grey gray silver silvery
spring / summer / autumn / winter
breakfast / lunch / dinner supper
morning / afternoon / evening evenings / night midnight / noon midday
kitchen / bathroom / bedroom / garage / cellar basement / attic loft / balcony terrace / hallway \
corridor / garden / study / canteen / nursery
car / bus coach / train tram / lorry lorries truck van / bicycle bike motorcycle motorbike / \
plane aircraft airliner helicopter / ship boat ferry ferries tanker
dog puppy / cat kitten / horse pony / cow bull cattle / sheep lamb / goat / pig / hen chicken / \
duck / rabbit / fox / wolf wolves / bear / deer / lion / tiger / elephant / monkey / bee / wasp / \
spider / snake / salmon / trout / cod / tuna
tea / coffee / wine / beer / milk / juice / cider / whisky / vodka / lemonade
guitar / violin / piano / cello / flute / trumpet / drum / clarinet / saxophone / oboe / harp / \
accordion
apple / pear / plum / cherry cherries / grape / lemon / banana / peach / strawberry strawberries \
/ raspberry raspberries / melon
potato / carrot / onion / tomato / cabbage / spinach / cucumber / lettuce / pea / bean / pumpkin \
/ leek
wheat / barley / rye / oats / maize corn / rice / soya soy / rapeseed
copper / iron steel / aluminium aluminum / lead / zinc / tin / nickel / lithium / cobalt
wood wooden timber oak pine / stone brick granite marble concrete / glass / plastic / leather / \
paper cardboard / cotton linen / wool woollen / silk / metal steel iron
mother / father / brother / sister / son / daughter / uncle / aunt / grandmother / grandfather / \
cousin / nephew / niece / husband / wife
nurse / doctor doctors physician surgeon / dentist / pharmacist / teacher / lawyer solicitor \
solicitors barrister / engineer / plumber / electrician / carpenter / baker / butcher / farmer / \
fisherman fishermen / pilot / journalist reporter / architect / gardener / soldier / sailor \
sailors / painter / cook chef / waiter
catholic / protestant lutheran / orthodox / muslim islamic / jewish / hindu / buddhist
football soccer / rugby / tennis / cricket / hockey / golf / basketball / baseball / volleyball / \
handball / swimming / rowing / boxing / cycling / badminton / chess
knee / elbow / shoulder shoulders / ankle / wrist / hip / thumb / ear / eye / nose / rib / heart \
/ liver / kidney / lung
mathematics maths / physics / chemistry / biology / history / geography
murder manslaughter / theft robbery burglary / fraud / arson / bribery / smuggling / forgery
flood / fire blaze / earthquake quake / landslide / avalanche / drought / explosion
petrol gasoline / diesel / coal / hydrogen / electricity
solar / wind / nuclear / hydroelectric / geothermal
river / lake pond / sea ocean / canal canals
school college / hospital clinic / church cathedral / library / museum gallery / factory plant / \
prison jail / hotel / airport / theatre / stadium / farm / mosque / supermarket / pharmacy
roof / floor floors / ceiling / window / door / chimney / wall
salt / sugar / pepper / flour / butter / oil / vinegar / honey
shirt / trousers / coat jacket / shoe / hat helmet / glove / scarf scarves / dress / skirt / sock
oxygen / nitrogen / carbon / helium / chlorine / sulphur sulfur
bachelor / doctorate / diploma
novel / poem / song / film movie / play / opera / sculpture / painting
hourly / daily / weekly / monthly / quarterly / yearly annually annual
"""

_PREFIXED = """
im-possible im-probable un-likely un-happy il-legal un-lawful un-safe un-fair in-correct
in-accurate un-available un-necessary un-common un-successful un-clear in-eligible in-sufficient
in-adequate ir-regular ir-responsible dis-honest dis-loyal in-valid in-active un-armed un-paid
un-aware un-certain un-comfortable un-expected un-familiar un-finished un-harmed un-healthy
un-important un-injured un-known un-limited un-married un-popular un-reliable un-stable un-sure
un-usual un-wanted un-welcome un-affected un-changed un-employed in-complete in-consistent
in-convenient in-dependent in-direct in-effective in-efficient in-tolerant in-visible im-patient
im-perfect im-polite im-mature im-moral ir-relevant dis-satisfied dis-similar dis-approve
dis-like dis-obey
"""

NEGATIVE_FORMS = MappingProxyType(
    {word.replace("-", ""): word.partition("-")[2] for word in _PREFIXED.split()}
)
"""Word with a negative prefix -> the word that it denies."""

OPPOSITES = excluding("\n".join((_OPPOSITES.strip(), *_PAIRS.split())))
"""Key of a word -> keys of words that exclude it."""

OPPOSITE_WORDS = frozenset(f"{_OPPOSITES} {_PAIRS}".replace("/", " ").split())
"""All words of these tables that have an opposite, as written."""

CONVERSES = excluding(_CONVERSES)
"""Key of a word -> keys of words for the same event with its roles exchanged."""

KINDS = excluding(_KINDS)
"""Key of a word -> keys of words of its kind that exclude it."""
