"""Doubts: sentences in the source's words that no sentence of the source asserts."""

import pytest

from spanjury.judges.rules.alignment.doubts import doubts

SOURCE = (
    "Her nephew Jonas bought the mill in 2018. The baker Tom Rask has worked there since 1999. "
    "A third man escaped by boat. Nobody was hurt. "
    "The report alleges that the minister took bribes. "
    "The minister said that it is false that the bank is bankrupt. "
    "The bank may close on Monday, and the library reopened in June. "
    "The pool opens at nine if the heating works. It closes at noon. "
    "Ben Ost nearly drowned. Nearly 500 people came."
)
JOINED = "It combines parts of different source sentences."


def reasons(output: str, source: str = SOURCE) -> list[str]:
    return [doubt.reason for doubt in doubts(output, {"News": source})]


@pytest.mark.parametrize(
    "output",
    [
        "The baker Tom Rask bought the mill in 2018.",
        "Her nephew Jonas has worked there since 1999.",
        "A third man was hurt.",
    ],
)
def test_a_subject_with_the_predicate_of_another_sentence_is_doubtful(output: str) -> None:
    assert reasons(output) == [JOINED]


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (
            "The minister took bribes.",
            "The source attributes this to someone ('alleges') and does not state it as fact.",
        ),
        ("The bank is bankrupt.", "The source denies or doubts this ('false')."),
        ("The bank closes on Monday.", "The source says this with a reservation ('may')."),
        ("Ben Ost drowned.", "The source says this with a reservation ('nearly')."),
        ("The pool opens at nine.", "The source says this only under a condition ('if')."),
    ],
)
def test_a_claim_that_the_source_does_not_assert_is_doubtful(output: str, reason: str) -> None:
    assert reasons(output) == [reason]


def test_the_doubt_lies_on_its_sentence() -> None:
    output = "A third man escaped by boat. The minister took bribes."
    [doubt] = doubts(output, {"News": SOURCE})
    assert output[doubt.start : doubt.end].strip() == "The minister took bribes."


@pytest.mark.parametrize(
    ("source", "output", "word"),
    [
        ("There is no evidence that the bank is bankrupt.", "The bank is bankrupt.", "no evidence"),
        ("The ferry is safe, the owner claimed.", "The ferry is safe.", "claimed"),
        ("The firm plans to build a dam.", "The firm will build a dam.", "plans"),
        ("The firm is expected to build a dam.", "The firm built a dam.", "expected"),
    ],
)
def test_what_keeps_a_claim_from_being_asserted_stands_anywhere_around_it(
    source: str, output: str, word: str
) -> None:
    [reason] = reasons(output, source)
    assert f"'{word}" in reason


@pytest.mark.parametrize(
    "output",
    [
        SOURCE,
        "Her nephew Jonas bought the mill.",
        "The report alleges that the minister took bribes.",
        "The report claims that the minister took bribes.",
        "The bank might close on Monday.",
        "The library reopened in June.",
        "Jonas bought the mill in 2018, and Tom Rask has worked there since 1999.",
        "The pool closes at noon.",
        "Tom Rask sold the mill in 2018.",
        "Was a third man hurt?",
        "500 people came.",
        "Bankrupt.",
    ],
)
def test_other_sentences_are_not_doubtful(output: str) -> None:
    assert reasons(output) == []


MIXED = "It combines words of the source's sentence differently."
FIRM = "In 2019 the firm opened a plant in Lund, and it cut 40 jobs in 2021."


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("Red is for cats and blue is for dogs.", "Red is for dogs and blue is for cats."),
        ("Children pay 12 euros.", "Adults pay 12 euros and children pay 5 euros."),
        ("The red line goes to the sea.", "The blue line goes to the sea, the red line to Dorn."),
        ("Anna writes novels.", "Anna paints portraits and Ben writes novels."),
        ("She ran the farm, and he ran the shop.", "She ran the shop, and he ran the farm."),
        ("In 2019 the firm cut 40 jobs.", FIRM),
        ("It is cold in the south.", "In the north it is cold, and in the south it is warm."),
        ("Maria sent the form.", "Hi Maria, I sent the form."),
        ("The tenant was fined by the landlord.", "The tenant fined the landlord."),
    ],
)
def test_words_of_different_clauses_in_one_are_doubtful(output: str, source: str) -> None:
    assert reasons(output, source) == [MIXED]


def test_a_sentence_about_a_person_of_another_gender_is_doubtful() -> None:
    source = "She ran the shop, and he ran the farm."
    reason = "The source says this of another person ('she', not 'he')."
    assert reasons("He ran the shop.", source) == [reason]
    assert reasons("He ran the farm.", source) == []


def test_a_decision_is_not_joined_with_a_proposal() -> None:
    source = "It was proposed to close the pool. The council decided to keep the pool open."
    assert reasons("The council decided to close the pool.", source) == [JOINED]


LEAFLET = (
    "You may drive, but stop if you feel dizzy. Patients with liver disease take half the dose. "
    "The pool, unless it rains, stays open. Entry is free for students. "
    "The alarm sounds when the door opens. The warranty covers the battery after registration. "
    "Parking costs 4 euros per hour. The battery lasts up to 12 hours. "
    "The lawyer of the bank resigned on Monday. Dogs are not allowed in the hall. "
    "A group of 12 men met in May after the storm. "
    "Tickets are refunded in full up to 48 hours before departure. "
    "The bridge will reopen at the earliest in June. The patient's mother has asthma."
)


@pytest.mark.parametrize(
    "output",
    [
        "You may drive if you feel dizzy.",
        "Patients take half the dose.",
        "The pool stays open.",
        "Entry is free.",
        "The alarm sounds.",
        "The warranty covers the battery.",
        "Parking costs 4 euros.",
        "The battery lasts 12 hours.",
        "The bank resigned on Monday.",
        "Dogs are not allowed.",
        "Tickets are refunded in full.",
        "The bridge will reopen.",
        "The patient has asthma.",
    ],
)
def test_a_sentence_without_a_word_that_affects_the_others_is_doubtful(output: str) -> None:
    assert reasons(output, LEAFLET) == [
        "It omits, adds or replaces words that may change the sense of the source's sentence."
    ]


@pytest.mark.parametrize(
    ("output", "source", "word"),
    [
        ("The members agreed.", "Half of the members agreed.", "Half"),
        ("Patients take the dose.", "Patients take half the dose.", "half"),
        ("The mayor of Dorn resigned.", "The deputy mayor of Dorn resigned.", "deputy"),
    ],
)
def test_a_sentence_on_a_part_or_on_another_is_doubtful(
    output: str, source: str, word: str
) -> None:
    assert reasons(output, source) == [f"The source says this of a part or of another ({word!r})."]
    assert reasons(source, source) == []


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("The library reopened.", "Half the shops closed, and the library reopened."),
        ("Patients with liver disease take half the dose.", LEAFLET),
        ("12 men met in May.", LEAFLET),
        ("Sales in Europe rose 4 percent.", "Sales in Europe rose sharply, 4 percent to 620."),
        ("The library opens in May.", "The library, built in 1932, opens again in May."),
        ("Ben sold the mill.", "Ben bought the mill and sold it. Ben sold the mill in May."),
        ("Shops in Lund sell it.", "Shops in Lund and Dorn sell it."),
        (
            "The south gate is closed; the north is open.",
            "The north is open; the south gate is closed.",
        ),
        ("Room 14 is for storage.", "Room 12 is for meetings, room 14 is for storage."),
        ("It covers the north.", "The plan covers the north."),
        ("It was paid in May.", "The claim was paid in May."),
        ("The firm cut 40 jobs in 2021.", FIRM),
        ("The firm sells cars in Dorn.", "The firm sells cars in Lund and in Dorn."),
        ("The firm sells vans in Dorn.", "The firm sells cars in Lund and vans in Dorn."),
        ("The gate closes between 9 and 11.", "Between 9 and 11, the gate closes."),
        ("The form that was sent is blue.", "The form that I sent is blue."),
        ("Dogs may run in the yard.", "Dogs may run in the yard but not in the hall."),
        ("The tenant was fined by the landlord.", "In May, the landlord fined the tenant."),
        ("The landlord fined the tenant.", "The tenant was fined by the landlord in May."),
        ("A fee is due if it rains.", "If it rains, a fee is due."),
    ],
)
def test_a_sentence_that_omits_other_words_is_not_doubtful(output: str, source: str) -> None:
    assert reasons(output, source) == []


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("All rooms have a kitchen.", "All rooms have a lamp. Some rooms have a kitchen."),
        ("Members pay a fee.", "Some members pay a fee."),
        ("Dogs may run in the yard.", "Dogs may run in the yard but not if it rains."),
        ("The oven broke although the cook left.", "Although the oven broke, the cook left."),
    ],
)
def test_a_quantity_an_exception_or_a_conjunction_may_not_change(output: str, source: str) -> None:
    assert len(reasons(output, source)) == 1


def test_a_question_asserts_nothing() -> None:
    source = "Is the lab in room B? The lab is in room D."
    assert reasons("The lab is in room B.", source) == [
        "The source asks this and does not state it."
    ]
    assert reasons("The lab is in room D.", source) == []


def test_a_pronoun_is_no_continuation_if_its_sentence_says_the_opposite() -> None:
    source = "The museum is open from Tuesday to Sunday. It is closed on Mondays."
    assert reasons("The museum is open on Mondays.", source) == [JOINED]
    assert reasons("The museum is closed on Mondays.", source) == []


@pytest.mark.parametrize(
    ("source", "output", "limit"),
    [
        ("Up to 500 euros it is free. Above that, a fee is due.", "A fee is due.", "Above that"),
        ("Members enter free. Otherwise entry costs 8.", "Entry costs 8.", "Otherwise"),
        ("Is the seal broken? If so, the warranty is void.", "The warranty is void.", "If so"),
        ("A window broke. The tenant pays in this case.", "The tenant pays.", "in this case"),
        (
            "It is open until 5; outside these hours, calls cost 2.",
            "Calls cost 2.",
            "outside these",
        ),
    ],
)
def test_a_sentence_without_a_condition_that_refers_back_is_doubtful(
    source: str, output: str, limit: str
) -> None:
    reason = f"The source says this only under a condition ({limit!r})."
    assert reasons(output, source) == [reason]


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("The bridge closed. After that, the ferry ran.", "The ferry ran."),
        ("It is free. Above that, a fee is due.", "It is free."),
        (
            "Up to 5 euros it is free. Above that, a fee is due at once.",
            "Above that, a fee is due.",
        ),
    ],
)
def test_a_sentence_that_lacks_no_such_condition_is_not_doubtful(source: str, output: str) -> None:
    assert reasons(output, source) == []


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("The fair opens on Monday. In May it opens on Friday.", "The fair opens on Friday."),
        ("Anna works in Oslo. In summer she works in Lund.", "Anna works in Lund."),
        ("Unless you pay, the lease ends. The data are kept.", "The data are kept unless you pay."),
    ],
)
def test_an_adverbial_or_a_condition_of_another_sentence_is_doubtful(
    source: str, output: str
) -> None:
    assert reasons(output, source) == [JOINED]


def test_the_end_of_a_sentence_may_continue_the_one_before() -> None:
    source = "The fair is on 9 May. It starts at the mill."
    assert not reasons("The fair starts at the mill.", source)


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("Tom hired Ann in May.", "Tom was hired in May."),
        ("Ann met a man who trained Carl.", "Ann trained Carl."),
        ("Police questioned the cousin of Jim Ross.", "Police questioned Jim Ross."),
        ("Lena: We fixed it, my sister painted the wall.", "Lena painted the wall."),
        (
            "Before the storm, the town had a pier; after the storm, it had none.",
            "After the storm, the town had a pier.",
        ),
    ],
)
def test_another_role_person_or_time_is_doubtful(source: str, output: str) -> None:
    assert len(reasons(output, source)) == 1


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("The man arrested on Monday was Tom.", "The man was arrested on Monday."),
        ("Ann Lee, a nurse who treated Carl, left.", "Ann Lee treated Carl."),
        ("The team visited the city of Rome.", "The team visited Rome."),
    ],
)
def test_the_same_role_person_or_city_is_not_doubtful(source: str, output: str) -> None:
    assert not reasons(output, source)


EXAM = "The exam is on 5 May. In 2023 it was on 6 June."
SHOP = "The shop closes at 6. On Sundays it closes at 4."


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("The exam is on 6 June.", EXAM),
        ("The shop closes at 6 on Sundays.", SHOP),
        ("The shop closes at 4.", SHOP),
        ("The fee is 10 euros.", "The fee is 15 euros. For students it is 10 euros."),
    ],
)
def test_a_value_of_another_case_is_doubtful(output: str, source: str) -> None:
    assert reasons(output, source) == [JOINED]


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("In 2023 the exam was on 6 June.", EXAM),
        ("The exam was on 6 June in 2023.", EXAM),
        ("The exam is on 5 May.", EXAM),
        ("Anna moved to Oslo.", "Anna works at Bell. In 2020 she moved to Oslo."),
        ("The team won 8 games.", "The team has 12 players. In May it won 8 games."),
    ],
)
def test_a_value_with_its_case_is_not_doubtful(output: str, source: str) -> None:
    assert reasons(output, source) == []


def test_a_sentence_within_one_that_an_initial_may_continue_is_not_doubtful() -> None:
    source = "The trial compared drug A with a placebo. Pain occurred on drug A. Nausea was rare."
    assert reasons("Pain occurred on drug A.", source) == []


CUT = "It omits, adds or replaces words that may change the sense of the source's sentence."
OTHER_VALUE = "Another sentence of the source says this with another value."
PRICE = "The price was 20 euros. Now it is 25 euros."
CLINIC = "The clinic was in Oslo. It is in Bergen now."
LIFTS = "The big lift holds 8 people. The small lift holds 6 people."


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("The price is 20 euros.", PRICE),
        ("The price is 20 euros.", "The old price was 20 euros. The price is 25 euros."),
        ("The clinic is in Oslo.", CLINIC),
        ("The lift holds 8 people.", LIFTS),
    ],
)
def test_a_value_that_another_sentence_replaces_is_doubtful(output: str, source: str) -> None:
    assert reasons(output, source) == [OTHER_VALUE]


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("The price was 20 euros.", PRICE),
        ("The price is 25 euros.", PRICE),
        ("The clinic is in Bergen.", CLINIC),
        ("The clinic was in Oslo.", CLINIC),
        ("The small lift holds 6 people.", LIFTS),
        ("The lift holds 8 people.", "The big lift holds 8 people. The small lift is new."),
        ("40 minutes", "Bake it for 40 minutes. Cool it for 10 minutes."),
    ],
)
def test_a_value_that_no_sentence_replaces_is_not_doubtful(output: str, source: str) -> None:
    assert reasons(output, source) == []


MEDALS = "Gold went to Chile, silver to Peru."
BROKEN = "Two of the three lifts are out of order; one works."


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("Gold went to Peru.", MEDALS),
        ("Two of the three lifts work.", BROKEN),
        ("Lifts work.", "Lifts are broken; escalators work."),
    ],
)
def test_the_predicate_of_a_clause_without_its_subject_is_doubtful(
    output: str, source: str
) -> None:
    assert reasons(output, source) == [MIXED]


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("Gold went to Chile.", MEDALS),
        ("Two of the three lifts are out of order.", BROKEN),
        ("He works in Oslo and in Rome.", "He works in Oslo, in Bergen and in Rome."),
        ("Question 2: C.", "question 1: B, question 2: C"),
    ],
)
def test_a_clause_with_its_own_predicate_is_not_doubtful(output: str, source: str) -> None:
    assert reasons(output, source) == []


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("The museum is free.", "The museum is free on Mondays."),
        ("The pool is heated.", "The pool is heated in winter."),
        ("The bus stops here.", "The bus stops here in term time only."),
        ("You can pay by card.", "You can pay by card above 10 euros."),
        ("Dogs are welcome.", "Small dogs are welcome."),
        ("The bus stops at the school.", "The bus stops near the school."),
        ("The bus stops at the school.", "The bus stops at the kiosk near the school."),
        ("question 1 C", "question 1: B, question 2: C"),
        ("Question 1: C.", "question 1: B, question 2: C"),
    ],
)
def test_a_sentence_without_a_limit_or_with_another_item_is_doubtful(
    output: str, source: str
) -> None:
    assert reasons(output, source) == [CUT]


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("The museum is free on Mondays.", "The museum is free on Mondays in May."),
        ("The museum opened.", "The museum opened on Mondays."),
        ("Small dogs are welcome.", "Small dogs are welcome here."),
        ("The dogs are welcome.", "The small dogs are welcome."),
        ("The bus stops at the school.", "The bus stops at the old school."),
        ("The bus stops at the school.", "The bus stops at the newly painted school."),
        ("Tom has two sons, one in Oslo.", "Tom has two sons, one in Oslo, and a daughter."),
        ("The bus stops near the school.", "The red bus stops near the school."),
        ("question 1 B", "question 1: B, question 2: C"),
    ],
)
def test_a_sentence_with_its_limits_is_not_doubtful(output: str, source: str) -> None:
    assert reasons(output, source) == []
