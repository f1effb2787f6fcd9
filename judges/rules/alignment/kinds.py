"""Words of one kind that exclude one another: *red* where the source's sentence has *blue*."""

from collections.abc import Collection, Iterator, Mapping

from spanjury.judges.rules.alignment.aligner import Comparison
from spanjury.judges.rules.alignment.contradiction import Difference
from spanjury.judges.rules.alignment.index import Search
from spanjury.judges.rules.alignment.keys import excluding
from spanjury.judges.rules.alignment.tokens import Token

_SEVERITY = 4
_FEWEST = 3  # tokens of a sentence, of which all but one are the source's

# A line for each kind. Words between two slashes may stand for one another, or one may include the
# other; all others exclude one another where they are said of the same.
_KINDS = """
red scarlet crimson / blue navy turquoise / green turquoise / yellow golden gold / white / black \
/ brown / orange / purple violet / pink / grey gray silver silvery
spring / summer / autumn / winter
breakfast / lunch / dinner supper
morning mornings / afternoon afternoons / evening evenings / night nights midnight / noon midday
kitchen / bathroom / bedroom / garage / cellar basement / attic loft / balcony terrace / hallway \
corridor / garden / study / canteen / nursery
car cars / bus buses coach coaches / train trains tram trams / lorry lorries truck trucks van vans \
/ bicycle bicycles bike bikes motorcycle motorcycles motorbike motorbikes / plane planes aircraft \
airliner helicopter / ship ships boat boats ferry ferries tanker
dog dogs puppy / cat cats kitten / horse horses pony / cow cows bull cattle / sheep lamb lambs \
/ goat goats / pig pigs / hen hens chicken chickens / duck ducks / rabbit rabbits / fox foxes \
/ wolf wolves / bear bears / deer / lion lions / tiger tigers / elephant elephants / monkey \
monkeys / bee bees / wasp wasps / spider spiders / snake snakes / salmon / trout / cod / tuna
tea / coffee / wine / beer / milk / juice / cider / whisky / vodka / lemonade
guitar guitars / violin violins / piano pianos / cello cellos / flute flutes / trumpet trumpets \
/ drum drums / clarinet clarinets / saxophone saxophones / oboe oboes / harp harps / accordion
apple apples / pear pears / plum plums / cherry cherries / grape grapes / lemon lemons / banana \
bananas / peach peaches / strawberry strawberries / raspberry raspberries / melon melons
potato potatoes / carrot carrots / onion onions / tomato tomatoes / cabbage cabbages / spinach \
/ cucumber cucumbers / lettuce / pea peas / bean beans / pumpkin pumpkins / leek leeks
wheat / barley / rye / oats / maize corn / rice / soya soy / rapeseed
copper / iron steel / aluminium aluminum / lead / zinc / tin / nickel / lithium / cobalt
wood wooden timber oak pine / stone brick granite marble concrete / glass / plastic / leather \
/ paper cardboard / cotton linen / wool woollen / silk / metal steel iron
mother mothers / father fathers / brother brothers / sister sisters / son sons / daughter \
daughters / uncle uncles / aunt aunts / grandmother / grandfather / cousin cousins / nephew \
nephews / niece nieces / husband husbands / wife wives
nurse nurses / doctor doctors physician physicians surgeon surgeons / dentist dentists \
/ pharmacist pharmacists / teacher teachers / lawyer lawyers solicitor solicitors barrister \
/ engineer engineers / plumber plumbers / electrician electricians / carpenter carpenters \
/ baker bakers / butcher butchers / farmer farmers / fisherman fishermen / pilot pilots \
/ journalist journalists reporter reporters / architect architects / gardener gardeners \
/ soldier soldiers / sailor sailors / painter painters / cook cooks chef chefs / waiter waiters
catholic / protestant lutheran / orthodox / muslim islamic / jewish / hindu / buddhist
football soccer / rugby / tennis / cricket / hockey / golf / basketball / baseball / volleyball \
/ handball / swimming / rowing / boxing / cycling / badminton / chess
knee knees / elbow elbows / shoulder shoulders / ankle ankles / wrist wrists / hip hips \
/ thumb thumbs / ear ears / eye eyes / nose / rib ribs / heart / liver / kidney kidneys / lung lungs
mathematics maths / physics / chemistry / biology / history / geography
murder manslaughter / theft robbery burglary / fraud / arson / bribery / smuggling / forgery
flood floods flooding / fire blaze / earthquake quake / landslide landslides / avalanche \
/ drought / explosion
petrol gasoline / diesel / coal / hydrogen / electricity
solar / wind / nuclear / hydroelectric / geothermal
river rivers / lake lakes pond / sea ocean / canal canals
school schools college / hospital hospitals clinic / church churches cathedral / library libraries \
/ museum museums gallery / factory factories plant / prison prisons jail / hotel hotels \
/ airport airports / theatre theatres / stadium stadiums / farm farms / mosque mosques \
/ supermarket supermarkets / pharmacy pharmacies
roof roofs / floor floors / ceiling / window windows / door doors / chimney chimneys / wall walls
salt / sugar / pepper / flour / butter / oil / vinegar / honey
shirt shirts / trousers / coat coats jacket jackets / shoe shoes / hat hats helmet helmets \
/ glove gloves / scarf scarves / dress dresses / skirt skirts / sock socks
oxygen / nitrogen / carbon / helium / chlorine / sulphur sulfur
bachelor / doctorate / diploma
novel novels / poem poems / song songs / film films movie movies / play plays / opera operas \
/ sculpture sculptures / painting paintings
hourly / daily / weekly / monthly / quarterly / yearly annually annual
"""


_EXCLUDED = excluding(_KINDS)
"""Key of a word -> keys of words that exclude it."""


def other_kinds(comparison: Comparison, searches: Collection[Search]) -> Iterator[Difference]:
    """Yield a word that the inputs do not hold, in a near copy of a sentence with one it excludes.

    All other tokens of the output are the source's, in its order.
    """
    equal = {link.left: link.right for link in comparison.links if link.same}
    tokens = comparison.output.tokens
    if not _FEWEST <= len(tokens) == len(equal) + 1:
        return
    (at,) = set(range(len(tokens))).difference(equal)
    word, excluded = tokens[at], _EXCLUDED.get(tokens[at].key)
    if not excluded or word.denied or any(search.states(word) for search in searches):
        return
    for other in _beside(comparison, equal, at):
        if other.key in excluded and not other.denied:
            yield Difference(word.start, word.end, other.start, other.end, "other kind", _SEVERITY)
            return


def _beside(comparison: Comparison, equal: Mapping[int, int], at: int) -> Iterator[Token]:
    """Yield the tokens of the source next to those around the output's token `at`."""
    tokens = comparison.source.tokens
    if at - 1 in equal and equal[at - 1] + 1 < len(tokens):
        yield tokens[equal[at - 1] + 1]
    if equal.get(at + 1, 0):
        yield tokens[equal[at + 1] - 1]
