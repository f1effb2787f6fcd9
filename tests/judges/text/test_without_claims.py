"""Parts of an output that claim nothing."""

import pytest

from spanjury.judges.text.without_claims import absences, blanked, without_marks


@pytest.mark.parametrize(
    ("output", "kept"),
    [
        (
            "It lasts 2 years [1, 2]. Then it ends (source: p. 3).",
            "It lasts 2 years . Then it ends .",
        ),
        ("Yes, it does. No. It is not.", "it does. It is not."),
        ("1. Open it.\n2) Close it.", "Open it. Close it."),
        ("Yes", "Yes"),
        (
            "Hello Anna Lund, it opened. Good Morning is a song.",
            "Anna Lund, it opened. Good Morning is a song.",
        ),
        ("No other model has [] or x[i].", "No other model has [] or x[i]."),
        ("Great question! It opened. I hope this helps.", "It opened."),
        ("Wow , it opened . How about you ?", "it opened ."),
        ("It opened. Would you like to know more?", "It opened."),
        ("It opened. Did you know that it closed?", "It opened. Did you know that it closed?"),
        ("It opened. Why do you pay a fee?", "It opened. Why do you pay a fee?"),
        ("It opened. Can you pay 3 euros?", "It opened. Can you pay 3 euros?"),
        ("Sure, here is a short summary of it: it opened.", "it opened."),
        ("Here is a list of the 12 rooms: A.", "Here is a list of the 12 rooms: A."),
        ("That sounds great! They met. Let me know if you agree.", "They met."),
        ("It opened. Feel free to return it.", "It opened. Feel free to return it."),
        ("It opened. Let me know if Ben pays.", "It opened. Let me know if Ben pays."),
        ("Thanks for asking! How are you?", "Thanks for asking! How are you?"),
        (
            "It rose to 1.5 m. In 2 cases [sic] it fell.",
            "It rose to 1.5 m. In 2 cases [sic] it fell.",
        ),
    ],
)
def test_marks_become_blanks_of_the_same_length(output: str, kept: str) -> None:
    bare = without_marks(output)
    assert len(bare) == len(output)
    assert " ".join(bare.split()) == kept


@pytest.mark.parametrize(
    ("sentence", "is_absence"),
    [
        ("The article doesn't say who paid.", True),
        ("There is no information on prices.", True),
        ("I don't know.", True),
        ("Prices are not given in the documents.", True),
        ("I could not find the answer.", True),
        ("The pump does not contain lead.", False),
        ("The shop cannot give refunds.", False),
        ("No details were lost.", False),
    ],
)
def test_a_sentence_that_says_what_the_source_lacks_is_recognised(
    sentence: str, *, is_absence: bool
) -> None:
    output = f"It rains. {sentence}"
    assert absences(output) == ([(10, len(output))] if is_absence else [])
    assert blanked(output, [(10, len(output))]).rstrip() == "It rains."


@pytest.mark.parametrize("step", ["Step 1: ", "**Step 1:** ", "### Step 1 - ", "(1) "])
def test_the_number_of_a_step_is_no_claim(step: str) -> None:
    assert without_marks(f"{step}Open the app.").split() == ["Open", "the", "app."]
