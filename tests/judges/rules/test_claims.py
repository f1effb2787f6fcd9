"""Claims: which numbers and names follow from a source, and which it lacks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import Aspect, Report, Task
from spanjury.judges.rules.grounding import GroundingJudge
from spanjury.judges.rules.source_index import join_inputs

TASK = Task(name="summarization", description="Summarize the article.")
CONSISTENCY = Aspect(name="consistency", task=TASK, definition="…", kind="grounding")
CLINIC = (
    "The clinic treated 1,200,000 patients in 2019. On 3 March 2025, John Doe of the World Health "
    "Organization said 12% of them were from France. The fee rose from 8 euros to 12 euros. The "
    "queue was 5 kilometres long. Born in 1950, Ann Lee died in 2019. The second site is in Leeds. "
    "A quarter of visitors came by bus. In Paris, Rome and Oslo it opened shops. The mayor, "
    "Jean Roux, met the North Atlantic Treaty Organization and the UN."
)
GERMAN = (
    "Der Umsatz stieg um 8,4 Prozent auf 1.200 Millionen Euro. Herr Müller leitet die Firma "
    "in Köln seit 2010."
)
RECORD = (
    '{"patient": {"name": "Ann Lee", "waiting_time": 5, "doctorName": "Dr. Roe", '
    '"visits": [{"date": "2025-03-03", "cost": 12.5}]}}'
)
VISITORS = "City,Visitors\nLeeds,138\nYork,139\nHull,143\n"
RECIPE = "Serves 4. Take 200 g of flour, 3 eggs and 150 ml of milk."
CHAT = "Ann: hi, coffee?\nBob: sure, 15:30, 5 mln things to do\nAnn: ok"


def judged(output: str, source: str) -> Report:
    return GroundingJudge()._compare(output, join_inputs({"Source": source}), aspect=CONSISTENCY)


def marked(output: str, source: str) -> list[str]:
    return [span.text for span in judged(output, source).spans]


@pytest.mark.parametrize(
    ("source", "output"),
    [
        (CLINIC, "The clinic treated 1.2 million patients, 1.2m in all."),
        (CLINIC, "Of these 12 percent, a share of 0.12, were French."),
        (CLINIC, "More than 1 million patients came."),
        (CLINIC, "The fee rose by 4 euros; both fees together are 20 euros."),
        (CLINIC, "The fee was 8-12 euros, between 8 and 12 euros."),
        (CLINIC, "Ann Lee died aged 69."),
        (CLINIC, "In '19 it treated patients."),
        (CLINIC, "25% of visitors came by bus."),
        (CLINIC, "The 2nd site is in Leeds."),
        (CLINIC, "It opened shops in three cities: Paris, Rome and Oslo."),
        (CLINIC, "The WHO and NATO said so, and so did the United Nations."),
        (CLINIC, "Doe's clinic treated patients, the mayor and Roux said."),
        (CLINIC, "On March 3rd, 2025, a Monday, he spoke."),
        (CLINIC, "He spoke on 03/03/2025."),
        (CLINIC, "john doe spoke in leeds ."),
        (GERMAN, "Müllers Firma in Köln wuchs um 8,4 Prozent auf 1200 Millionen Euro."),
        (RECORD, "Ann Lee had a waiting time of 5 and saw Dr. Roe on 3 March 2025 for 12.50."),
        ("The sale is on Wed, 10-12.", "On Wednesdays there is a sale."),
        ("It shuts at 15:30.", "Shutting time is 3.30pm."),
        ("It shuts at 3.30 pm.", "Shutting time is 15:30."),
        (CHAT, "Two friends, Ann and Bob, meet at 3:30 pm, with 5 million things to do."),
        ("In the 1980s he sang.", "In the 80s he sang."),
        ("Soak the lentils for half an hour in 900 ml.", "Soak them for 30 minutes in 0.9 l."),
        ("It is shut from 22:00 to 02:30.", "It is shut for 4.5 hours, or 270 minutes."),
        ("They gave 3,480 boxes and 4,120 in May.", "They gave 7,600 boxes, 640 more in May."),
        ("Of the 46 helpers 14 joined this year.", "Of the helpers 32 were there before."),
        ("A tax credit of up to 35 million dollars a year over ten years.", "350 million dollars."),
        (
            "Sales in Europe rose to 620 million euros.",
            "| Region | Sales (million euros) |\n|---|---|\n| Europe | 620 |",
        ),
        ("They won five matches. A win is worth 3 points.", "They have 15 points."),
        ("| Day | Mon | Wed |\n| Sun | 14 | 21 |", "On Wednesday it is warmer than on Monday."),
        ("It takes two and a half hours.", "It takes 2.5 hours."),
        ("Profit fell by a tenth.", "Profit fell by 10%."),
        ("It is open on weekdays, from 8.", "It is open from Monday to Friday."),
        ("It is open Tue–Thu.", "It is open on Wednesday."),
        ("It is open at weekends.", "It is open on Sunday."),
        ("Two-thirds of them, or three in ten of all, agreed.", "66% agreed, 30% of all."),
        ("It costs twelve point five dollars.", "It costs $12.50."),
        ("A 6-year-old girl fell.", "The six-year-old girl fell."),
        ("The John F. Kennedy airport closed.", "The JFK airport closed."),
        ("About 31. 8 million people came.", "About 31.8 million people came."),
        ("It uses COVID-19 data of Q3.", "It uses COVID19 data of the 3rd quarter."),
        ("Sales rose from 250 to 281 cars.", "Sales rose by about 12%."),
        ("Of the 240 pupils, 162 passed.", "67.5% of the pupils passed."),
        ("The jacket costs 80 euros. There is 25% off.", "The jacket costs 60 euros."),
        ("Tickets cost 12 EUR each.", "Three tickets cost 36 EUR."),
        ("Adults pay 12 euros, children 7 euros.", "Two adults and three children pay 45 euros."),
        ("The monthly rent is 950 dollars.", "The annual rent is 11,400 dollars."),
        (VISITORS, "The three cities had 420 visitors, and a city 140 on average."),
        ('[{"name": "Ada", "points": 14}, {"name": "Ben", "points": 21}]', "Both have 35 points."),
        ("It opens on 3 May and closes two weeks later.", "It closes on 17 May."),
        ("It is due ten days after 25 March.", "It is due on 4 April."),
        ("It opens on 8 May.", "It does not open before 5 May."),
        ("The fair is open from 4 June to 25 June.", "The fair is open for three weeks."),
        ("It shuts at noon, and at half past six on Monday.", "It shuts at 12:00 or 18:30."),
        ("The train of 17:50 is 25 minutes late.", "The train is there at 18:15."),
        ("The tour begins at 10:00 and ends at 18:00.", "The tour takes 8 hours."),
        ("A couple of guards take half a dozen eggs.", "The 2 guards take 6 eggs."),
        ('{"scores": [138, 139, 143]}', "The scores are 138, 139 and 143."),
        (RECIPE, "For 8 instead of 4 take 400 g of flour, 6 eggs and 300 ml of milk."),
        ("The hall holds 160 guests.", "The hall holds more than 100 guests."),
        ("At least 3 nurses are there.", "More than 2 nurses are there."),
        ("The town has 1,200 inhabitants.", "The town has 1 200 inhabitants."),
        ("The book costs €25.", "The book costs 25 EUR, not 25 euros more."),
        ("It opens from 9:00 to 17:00 and costs 15 euros per hour.", "A day costs 120 euros."),
    ],
)
def test_derived_statements_are_no_errors(source: str, output: str) -> None:
    assert marked(output, source) == []


@pytest.mark.parametrize(
    ("source", "output", "errors"),
    [
        (CLINIC, "The clinic treated 1.3 million patients.", ["1.3 million"]),
        (CLINIC, "Of these 15% were French.", ["15"]),
        (CLINIC, "The fee rose by 5.5 euros.", ["5.5"]),
        ("Soak them for half an hour.", "Soak them for 40 minutes.", ["40"]),
        ("Sales rose from 250 to 281 cars.", "Sales rose by about 22%.", ["22"]),
        ("Tickets cost 12 EUR each.", "Three tickets cost 46 EUR.", ["Three", "46"]),
        ("The fee is 40 euros a month.", "The fee is 490 euros a month.", ["490"]),
        ("It opens from 7:00 to 10:30 and costs 14 euros.", "It costs 40 euros.", ["40"]),
        ("It opens from 7:00 to 10:30 and costs 14 euros.", "It costs 17 euros.", ["17"]),
        (VISITORS, "A city had 150 visitors on average.", ["150"]),
        ("It opens on 3 May and ends two weeks later.", "It ends on 21 May.", ["21 May"]),
        ("It opens on 8 May.", "It does not open before 15 May.", ["15 May"]),
        ("It shuts at half past six.", "It shuts at 7:30.", ["7:30"]),
        ("It opened recently.", "It opened on November 16, 2021.", ["November 16, 2021"]),
        ("Ann arrived after Ben.", "Ann arrived 1:04.29 after Ben.", ["1:04.29"]),
        (VISITORS, "The cities had 3% more visitors.", ["3"]),
        ("The choir has 64 members.", "The choir has more than 70 members.", ["70"]),
        ("The town has 1,200 inhabitants.", "The town has 1 300 inhabitants.", ["1 300"]),
        ("Child seats cost £4.50 a day.", "Child seats cost £4.05 a day.", ["4.05"]),
        ("The update takes 12 minutes.", "The update takes 12 hours.", ["12 hours"]),
        ("No more than 3 pills. Wait 6 hours.", "No more than 5 pills.", ["5"]),
        ("Store below 25 °C.", "Store below 30 °C.", ["30"]),
        ("Profit fell by a tenth.", "Profit fell by 12%.", ["12"]),
        ("It is open on weekdays, from 8.", "It is open on Sunday.", ["Sunday"]),
        ("It opened at the weekend.", "It opened on Sunday.", ["Sunday"]),
        ("The sale is on Wed, 10-12.", "On Saturdays there is a sale.", ["Saturdays"]),
        ("It is open Thu–Tue.", "It is open on Wednesday.", ["Wednesday"]),
        ("One in seven said so.", "About 25% said so.", ["25"]),
        ("It is shut from 22:00 to 02:30.", "It is shut for 5.5 hours.", ["5.5"]),
        ("On 3 March 12% came.", "In all 15% came.", ["15"]),
        ("They won 5 matches and lost 3 games.", "They have 15 points.", ["15"]),
        (CLINIC, "Ann Lee died aged 75.", ["75"]),
        (CLINIC, "More than 2 million patients came.", ["2 million"]),
        (CLINIC, "John Doe spoke on Tuesday.", ["Tuesday"]),
        (CLINIC, "The mayor, Jean Hexwell, spoke.", ["Jean Hexwell"]),
        (CLINIC, "Peter Orlusk of Vortex Labs said so.", ["Peter Orlusk", "Vortex Labs"]),
        (CLINIC, "The mayor met the IMF in Spanish.", ["IMF", "Spanish"]),
        (CLINIC, "john doe met jane smith in leeds .", ["jane smith"]),
        (GERMAN, "Der Umsatz von Herrn Schmidt stieg um 9,4 Prozent.", ["Schmidt", "9,4"]),
    ],
)
def test_an_unsupported_sentence_is_marked_as_a_whole(
    source: str, output: str, errors: list[str]
) -> None:
    assert marked(output, source) == errors


@pytest.mark.parametrize(
    ("output", "source", "wrong"),
    [
        ("The cable is 2 m long.", "The cable is 200 cm long.", "The cable is 20 cm long."),
        ("The cable is 200 cm long.", "The cable is 2 m long.", "The cable is 20 m long."),
        ("The tank holds 1500 ml.", "The tank holds 1.5 l.", "The tank holds 15 l."),
        ("The disk holds 2000 GB.", "The disk holds 2 TB.", "The disk holds 20 TB."),
        ("The warranty is 12 months.", "The warranty is one year.", "The warranty is two years."),
        ("It takes 90 minutes.", "It takes an hour and a half.", "It takes two hours."),
        ("It takes 90 minutes.", "It takes one and a half hours.", "It takes an hour."),
        ("It takes 2 h 30 min.", "It takes 150 minutes.", "It takes 140 minutes."),
        ("It is 1,200 m long.", "It is 1.2 km long.", "It is 12 km long."),
        ("It is about 5 km long.", "It is 3.1 miles long.", "It is 8 miles long."),
        ("It is 1,063 feet high.", "It is 324 m high.", "It is 342 m high."),
        ("It weighs 26.5 lb.", "It weighs 12 kg.", "It weighs 15 kg."),
        ("Bake it at 392 °F.", "Bake it at 200 °C.", "Bake it at 180 °C."),
        ("It is -18 °C cold.", "It is 0 °F cold.", "It is 10 °F cold."),
        ("Return it in 14 days.", "Return it in a fortnight.", "Return it in a month."),
        ("It costs 1,200.00 EUR.", "It costs 1.200,00 EUR.", "It costs 1.300,00 EUR."),
    ],
)
def test_a_quantity_may_be_in_another_unit(output: str, source: str, wrong: str) -> None:
    assert marked(output, source) == []
    assert marked(output, wrong) != []


def test_a_telephone_number_is_one_claim() -> None:
    output = "Our hotline for guests is +49 30 1234567 today."
    source = "Our hotline for guests is there today."
    assert marked(output, source) == ["+49 30 1234567"]
    assert marked(output, f"{source} Dial +49 (0)30 123 45 67.") == []
    assert marked(output, f"{source} Dial 030/1234567.") == []


@pytest.mark.parametrize(
    ("output", "name"),
    [
        ("Our RX-200 is slow.", "RX-200"),
        ("Contact Karl Meier now.", "Karl Meier"),
        ("Call Anna Berg for help.", "Anna Berg"),
    ],
)
def test_a_name_is_marked_with_its_number_and_without_a_verb(output: str, name: str) -> None:
    assert marked(output, "Our device is slow. We help now.") == [name]


def test_a_number_of_the_same_unit_in_a_sentence_on_something_else_is_not_named() -> None:
    source = "The wall mount costs 14.50 EUR. The router has a warranty of 24 months."
    for span in judged("You can extend it to 36 months for 19 EUR in our shop.", source).spans:
        assert span.explanation.endswith("does not occur in the source.")


def test_a_name_that_may_be_a_fuller_form_only_lowers_the_score() -> None:
    fuller = judged("Dustin Lee died in 2019.", "Mr Lee died in 2019.")
    plain = judged("Mr Lee died in 2019.", "Mr Lee died in 2019.")
    assert fuller.spans == ()
    assert fuller.score is not None
    assert plain.score is not None
    assert fuller.score < plain.score


def test_a_number_in_a_record_is_explained_by_its_field() -> None:
    (span,) = judged("Ann Lee had a waiting time of 7.", RECORD).spans
    (field,) = span.evidence
    assert (field.text, RECORD[field.start : field.end]) == ('"waiting_time": 5', field.text)
    assert span.explanation.endswith('; the source has "waiting_time": 5.')
    (span,) = judged("The gate has a waiting time of 7.", "Gate: 18:00").spans
    assert "the source has" not in span.explanation  # 18 is a part of a time


@pytest.mark.parametrize(
    "output",
    [
        "New Clinic Treats Many Patients In Leeds",
        "THE CLINIC TREATED MANY GRATEFUL PATIENTS.",
        'Yes. Fortunately, patients came. "Sure," the mayor said: Visitors came.',
        "## Overview\n\n1. **Patients**: treated [1, 2].\n2. Visitors: by bus\n* Shops\n",
        "See https://example.com/2031/77-report or mail bob@example.org.",
    ],
)
def test_headings_lists_answers_and_addresses_claim_nothing(output: str) -> None:
    assert marked(output, CLINIC) == []


PIECES = (
    *("3", "3.5", "8,4", "1.200", "'19", "80s", "Q3", "COVID-19", "15:30", "p.m.", "03/03/2025"),
    *("Ann", "Lee", "McX", "NATO", "of", "the", "Jane", "Roe", ",", ".", "and", "years", "[1]"),
    *("- ", "\n", "# ", "aged", "over", "million", "%", "\ud800", "é", "Herr", "der", "die"),
)


@given(st.lists(st.sampled_from(PIECES), max_size=30), st.lists(st.sampled_from(PIECES)))
def test_spans_and_evidence_hold_their_text_always(output: list[str], source: list[str]) -> None:
    text, given_text = " ".join(output), " ".join(source)
    for span in judged(text, given_text).spans:
        assert text[span.start : span.end] == span.text
        for piece in span.evidence:
            assert given_text[piece.start : piece.end] == piece.text


def test_the_nearest_number_is_that_of_the_sentence_about_the_same() -> None:
    source = "The notice that tenants give is 60 days. The deposit comes back within 26 days."
    output = "Whoever moves out owes the landlord a notice, as all tenants do, of 31 days."
    (span,) = judged(output, source).spans
    assert span.explanation.endswith('the nearest is "60".')


def test_wording_that_the_source_lacks_is_shown_beside_the_sentence_about_the_same() -> None:
    source = "The launch moves from 3 May to 17 May because the vendor is late. Tea is cold."
    output = "The launch slips ten weeks, to 17 May, since the vendor is late."
    (span,) = judged(output, source).spans
    (evidence,) = span.evidence
    assert evidence.text == "The launch moves from 3 May to 17 May because the vendor is late."
