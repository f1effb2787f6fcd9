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
        ("Hi team, it opened. Good morning!", "it opened."),
        ("I'm sorry to hear that. Unfortunately, it closed.", "it closed."),
        ("It opened. If you have any questions, please don't hesitate to ask.", "It opened."),
        ("It opened. Does that make sense? Anything else?", "It opened."),
        ("It opened. Enjoy your visit! Hope that helps.", "It opened."),
        ("Sure, here are the key steps: open it.", "open it."),
        ("- **Note:** it opened.\n- In short, it closed.", "- it opened. - it closed."),
        ("I have checked the policy for you. It opened.", "It opened."),
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
    "opening",
    [
        "According to the policy,",
        "Sure! Based on the provided documents,",
        "As stated in the refund policy,",
        "As the course page states,",
        "Per the manual,",
        "Yes, in short:",
        "**In summary:**",
        "To answer your question,",
        "Please note that",
        "It's worth noting that",
        "The manual says that",
        "Here's what the leaflet says:",
    ],
)
def test_words_that_only_refer_to_the_source_are_no_claim(opening: str) -> None:
    assert without_marks(f"{opening} it lasts two years.").strip() == "it lasts two years."


@pytest.mark.parametrize(
    "sentence",
    [
        "According to the mayor, the pump is shut.",
        "According to the old policy, the pump is shut.",
        "Based on the survey, it fell.",
        "As noted in the letter, it fell.",
        "In short supply, it fell.",
        "Note the fee of three euros.",
        "Important guests: Ben and Ann.",
        "The policy says nothing about gifts.",
        "The doctor says that the drug works.",
        "It is not worth noting that.",
        "Here is a list of the free models: Glide.",
        "Here's what Ben says: pay.",
        "Unfortunately the pump is shut.",
        "Hi team members, pay up.",
        "Let me know before you arrive by train.",
        "Let me know if you paid, because the fee rose.",
        "If you need help, call the chair.",
        "If you have any questions, let me know before the sale ends.",
        "Feel free to ask the chef for salt.",
        "Feel free to reach out to the office on weekends.",
        "Do not hesitate to contact me at the office.",
        "I am happy to help members on weekends.",
        "I have checked the pump for you.",
        "I hope this helps the members to win.",
        "I am sorry to hear that the pump broke.",
        "Thank you for the ten euros.",
        "Enjoy the free buffet.",
        "Take care of the pump.",
        "Good news for members.",
        "You may return software, right?",
        "So you pay nothing?",
        "Did you see the pump explode?",
        "Can you believe the fee rose?",
        "Anything else is forbidden.",
    ],
)
def test_sentences_that_only_look_like_remarks_are_kept(sentence: str) -> None:
    assert without_marks(f"It rains. {sentence}") == f"It rains. {sentence}"


@pytest.mark.parametrize(
    "sentence",
    [
        "I love the old bridge!",
        "Yeah, I really enjoyed Venice.",
        "I think pandas are so cute.",
        "I know.",
        "So do I.",
    ],
)
def test_what_a_speaker_likes_is_no_claim(sentence: str) -> None:
    assert without_marks(f"{sentence} It rains.", {"Guide": "It is dry."}).strip() == "It rains."


@pytest.mark.parametrize(
    "sentence",
    [
        "I like to drive at night.",
        "I love that the bridge is new.",
        "I liked 3 of the films.",
        "I think the pump is broken.",
        "I hate the fee but pay it.",
        "The critic loved the film.",
    ],
)
def test_likings_that_state_more_are_kept(sentence: str) -> None:
    assert without_marks(f"It rains. {sentence}") == f"It rains. {sentence}"


def test_a_liking_is_a_claim_beside_an_input_in_the_first_person() -> None:
    output = "I like apple pie. It rains."
    assert without_marks(output, {"Mail": "I like plum pie."}) == output


def test_many_empty_lines_are_read_once() -> None:
    text = "\n" * 3000
    assert without_marks(text) == text


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
