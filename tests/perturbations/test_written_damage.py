"""Damage that a model writes: what it is asked, what is believed, what is sent back."""

import json

import pytest

from spanjury.judges.core import ConfigError, Finish, PerturbationError, Reply, TransientModelError
from spanjury.perturbations.edits import Damage
from spanjury.perturbations.generated import cleaned, generated_perturbation
from spanjury.perturbations.perturbation import Case, NothingToDamageError
from spanjury.testing import ScriptedModel

ENTITIES = "fictional-entities"
GRAMMAR = "grammatical-errors"
INSERTION = "rewrite-and-insert"

TEXT = "Anna Berg opened a school in Oslo. It has 40 pupils from all over the country."
OTHER_TOWN = TEXT.replace("Oslo", "Velmora")
AGAIN = "Pupils from every part of the country, 40 in all, go there."


async def written(
    kind: str, *replies: Reply | str | Exception, text: str = TEXT, k: int = 1
) -> tuple[Damage, ScriptedModel]:
    model = ScriptedModel(*replies)
    damage = await generated_perturbation(kind).damage(Case(text=text), model, k=k, seed=7)
    return damage, model


async def test_an_invented_name_is_damage_where_it_stands() -> None:
    damage, model = await written(ENTITIES, OTHER_TOWN)
    assert damage.text == OTHER_TOWN
    (edit,) = damage.edits
    assert (TEXT[edit.start : edit.end], edit.text, len(model.requests)) == ("Oslo", "Velmora", 1)


async def test_the_model_sees_the_text_the_change_and_how_many() -> None:
    _, model = await written(ENTITIES, OTHER_TOWN)
    (request,) = model.requests
    assert (request.decoding.temperature, request.decoding.seed) == (0, 7)
    assert request.decoding.max_tokens >= len(TEXT)
    asked = request.messages[-1].content
    assert TEXT in asked
    assert "Pick 1 of what the text names" in asked


async def test_errors_of_grammar_are_damage() -> None:
    bad = TEXT.replace("It has", "It have").replace("pupils", "pupil")
    damage, _ = await written(GRAMMAR, bad, k=2)
    assert (damage.text, [edit.text for edit in damage.edits]) == (bad, ["have", "pupil"])


async def test_a_sentence_said_again_is_damage_where_it_was_inserted() -> None:
    damage, _ = await written(INSERTION, f"{TEXT} {AGAIN}")
    assert damage.text == f"{TEXT} {AGAIN}"
    (edit,) = damage.edits
    assert AGAIN[:-1] in edit.text
    assert edit.start >= TEXT.index(".", TEXT.index("country"))


async def test_blanks_around_the_text_stay() -> None:
    damage, _ = await written(ENTITIES, f"  {OTHER_TOWN}\n", text=f"\n{TEXT}  ")
    assert damage.text == f"\n{OTHER_TOWN}  "


@pytest.mark.parametrize(
    ("kind", "reply", "reason"),
    [
        (ENTITIES, TEXT, "nothing has changed"),
        (ENTITIES, "", "the reply is empty"),
        (ENTITIES, f"{OTHER_TOWN} It is new.", "the number of sentences has changed"),
        (ENTITIES, "A fox ran. It was fast.", "words have changed, which is too much"),
        (ENTITIES, TEXT.replace("has", "had"), "no name, number or term has become another"),
        (GRAMMAR, TEXT.replace("has", "have"), "fewer than 2 places have changed"),
        (GRAMMAR, TEXT.replace("has 40", "have 41"), "'40' is missing"),
        (GRAMMAR, "Fox run. It fasts.", "words have changed, which is too much"),
        (INSERTION, TEXT, "0 sentences were added instead of 2"),
        (INSERTION, f"{OTHER_TOWN} {AGAIN} {AGAIN}", "not all sentences of the text are there"),
        (INSERTION, f"{TEXT} It has 40 pupils from all over the country. Ok.", "word for word"),
        (INSERTION, f"{TEXT} The school. It is big.", "too short or too long"),
        (INSERTION, f"{TEXT} We like to eat bread and butter here. Ok.", "nothing to do with"),
    ],
)
async def test_another_change_goes_back_with_the_reason(kind: str, reply: str, reason: str) -> None:
    model = ScriptedModel(reply, repeat_last=True)
    with pytest.raises(PerturbationError):
        await generated_perturbation(kind).damage(Case(text=TEXT), model, k=2)
    first, second = model.requests
    assert second.messages[: len(first.messages)] == first.messages
    assert second.messages[-2].content == reply
    assert reason in second.messages[-1].content


async def test_the_second_reply_counts_if_it_is_right() -> None:
    damage, model = await written(ENTITIES, TEXT, OTHER_TOWN)
    assert (damage.text, len(model.requests)) == (OTHER_TOWN, 2)


async def test_a_reply_that_was_cut_short_is_not_believed() -> None:
    cut = Reply(text=OTHER_TOWN, finish=Finish.LENGTH)
    damage, model = await written(ENTITIES, cut, OTHER_TOWN)
    assert damage.text == OTHER_TOWN
    assert "not complete (length)" in model.requests[1].messages[-1].content


async def test_a_text_that_a_model_leaves_as_it_is_has_nothing_to_damage() -> None:
    with pytest.raises(NothingToDamageError, match="left the text as it was, twice"):
        await written(ENTITIES, TEXT, f"```\n{TEXT}\n```")


async def test_a_model_that_fails_twice_is_an_error_with_the_reason() -> None:
    with pytest.raises(PerturbationError, match="asked twice, did no .*: the number of sent"):
        await written(ENTITIES, TEXT, f"{OTHER_TOWN} It is new.")


async def test_an_error_of_the_model_goes_through() -> None:
    with pytest.raises(TransientModelError, match="gone"):
        await written(ENTITIES, TransientModelError("gone"))


@pytest.mark.parametrize("text", ["", " \n"])
async def test_no_model_is_asked_about_an_empty_text(text: str) -> None:
    with pytest.raises(NothingToDamageError, match="the text is empty"):
        await written(ENTITIES, text=text)


async def test_no_model_is_asked_for_less_than_one_change() -> None:
    with pytest.raises(PerturbationError, match="k must be 1 or more, got 0"):
        await written(ENTITIES, k=0)


def test_an_unknown_kind_is_answered_with_the_choices() -> None:
    with pytest.raises(ConfigError, match="'lies'; choose from fictional-entities, gramm"):
        generated_perturbation("lies")


def test_the_effects_are_those_of_the_rule_that_stands_in() -> None:
    assert generated_perturbation(GRAMMAR).twin.effect_on("fluency") == "falls"
    assert generated_perturbation(INSERTION).twin.effect_on("consistency") == "unchanged"


def test_the_signature_tells_the_kinds_apart() -> None:
    result = {generated_perturbation(kind).signature for kind in (ENTITIES, GRAMMAR, INSERTION)}
    assert len(result) == 3


@pytest.mark.parametrize(
    "reply",
    [
        "Bo left.",
        "  Bo left.\n",
        "```\nBo left.\n```",
        "```text\nBo left.\n```\nI changed the name.",
        '"Bo left."',
        "“Bo left.”",
        "Here is the changed text:\n\nBo left.",
        "Sure! Here's the text with one change: Bo left.",
        "Revised text: Bo left.",
        "[0a1b] Text: begin\nBo left.\n[0a1b] Text: end",
    ],
)
def test_wrapping_around_the_text_is_removed(reply: str) -> None:
    assert cleaned(reply, text="Ann left.", marks=("[0a1b]",)) == "Bo left."


@pytest.mark.parametrize("text", ['"Ann left."', "Here is the rule: Ann left.", "```\nAnn\n```"])
def test_parts_of_the_text_are_left_there(text: str) -> None:
    assert cleaned(text, text=text) == text


async def test_the_text_is_asked_for_in_an_object_where_a_server_takes_a_schema() -> None:
    _, model = await written(ENTITIES, TEXT, OTHER_TOWN)
    for request in model.requests:
        (held,) = request.variants
        schema = held.decoding.schema
        assert schema is not None
        (name,) = json.loads(schema.text)["properties"]
        assert name not in TEXT
        assert f'{{"{name}": "' in held.messages[1].content
        assert held.messages[1].content.startswith(request.messages[1].content)
    assert "answer with this object alone" in model.requests[1].variants[0].messages[-1].content


async def test_the_text_is_read_from_the_object_with_the_name_of_the_request() -> None:
    asked = ScriptedModel(OTHER_TOWN)
    await generated_perturbation(ENTITIES).damage(Case(text=TEXT), asked, seed=7)
    schema = asked.requests[0].variants[0].decoding.schema
    assert schema is not None
    (name,) = json.loads(schema.text)["properties"]
    damage, _ = await written(ENTITIES, json.dumps({name: OTHER_TOWN}))
    assert damage.text == OTHER_TOWN
    with pytest.raises(PerturbationError):
        await written(ENTITIES, *[json.dumps({"text_ffff": OTHER_TOWN})] * 2)
