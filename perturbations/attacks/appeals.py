"""Attacks that ask politely or show off; they are the perturbations of the recipe ``bias``."""

from spanjury.perturbations.attacks.attack import perturbing_attack
from spanjury.perturbations.text import bias

__all__ = [
    "author_label",
    "authority_claim",
    "bandwagon_claim",
    "confident_tone",
    "markdown_decoration",
    "pad_with_filler",
    "polite_appeal",
]

author_label = perturbing_attack(bias.author_label, family="authority")
authority_claim = perturbing_attack(bias.authority_claim, family="authority")
bandwagon_claim = perturbing_attack(bias.bandwagon_claim, family="appeal")
confident_tone = perturbing_attack(bias.confident_tone, family="appeal")
markdown_decoration = perturbing_attack(bias.markdown_decoration, family="appeal")
pad_with_filler = perturbing_attack(bias.pad_with_filler, family="appeal")
polite_appeal = perturbing_attack(bias.prompt_injection, family="appeal")
