"""Statistics on plain arrays, for exams and for your own evaluations.

A name is loaded when it is first used, since scipy takes half a second. ``docs/statistics.md``
lists the function for each question.
"""

from importlib import import_module

_MODULES = {
    "resampling": ("Interval", "Jackknifed", "bootstrap", "jackknife", "percentile_interval"),
    "bounded_means": ("BoundedMean", "RisingMean", "bounded_mean"),
    "calibration_error": ("calibration_error",),
    "combination.discernment": ("discernment_score", "linear_pool", "target_contrast"),
    "combination.harmonic_mean": (
        "harmonic_mean_calibrated",
        "harmonic_mean_paper",
        "harmonic_mean_wilson",
        "landau_threshold",
    ),
    "combination.multiplicity": ("holm",),
    "conformal": ("ConformalThreshold", "conformal_threshold", "items_for_rate"),
    "correlations.correlation": ("Correlation", "correlation", "correlations"),
    "correlations.grouping": ("level_correlation", "level_correlations"),
    "correlations.metric_permutation": ("compared_metrics", "perm_both"),
    "correlations.pairwise": ("darr", "pairwise_accuracy", "tie_calibrated_accuracy"),
    "correlations.resampled_correlations": (
        "correlation_difference",
        "correlation_estimate",
        "resampled_correlations",
    ),
    "correlations.system_pairs": ("soft_pairwise_accuracy", "system_accuracy"),
    "effects": ("difference_effects", "scale_effects"),
    "moderation": ("MarkVariance", "mark_variance", "moderated"),
    "monotone": ("centred_fit", "decreasing_fit", "decreasing_steps", "increasing_fit"),
    "paired_comparisons": (
        "BradleyTerry",
        "bradley_terry",
        "bradley_terry_effect",
        "bradley_terry_scores",
    ),
    "powered_estimates": ("PoweredEstimate",),
    "prediction_powered": (
        "marks_needed",
        "powered_difference",
        "powered_mean",
        "powered_tuning",
    ),
    "proportions": ("Proportion", "clustered_proportion"),
    "raters.agreement": ("cohen_kappa", "fleiss_kappa", "krippendorff_alpha"),
    "raters.ensembles": ("ensemble_curve", "leave_one_out"),
    "raters.graded": ("OrdinalScores", "ordinal_scores"),
    "raters.latent": ("DawidSkene", "dawid_skene"),
    "redundancy": ("Redundancy", "rater_redundancy"),
    "roc": ("auroc", "caught_share"),
    "sampling_design": ("StratifiedSample", "WeightedMean", "stratified", "weighted_mean"),
    "shapley": ("shapley_values", "subset_worths"),
    "significance.equivalence": ("Equivalence", "equivalence"),
    "significance.joint": ("joint_sign_flip",),
    "significance.paired": ("PairedStatistic", "PairedTest", "Pairs", "paired"),
    "significance.power": (
        "discernible_effect",
        "items_needed",
        "sign_flip_power",
        "simulated_power",
    ),
    "significance.sign_flip": ("paired_test", "sign_flip"),
    "significance.sign_test": ("sign_test",),
    "significance.signed_rank": ("signed_rank",),
    "spans.gamma": ("Gamma", "gamma"),
    "spans.localisation": ("Localisation", "localisation"),
    "spans.span_agreement": ("character_overlap", "exact_overlap", "graded_overlap"),
    "spans.span_detection": ("count_correlation", "detection", "hallucination_rate"),
    "spans.span_matching": ("matched_overlap", "matching"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted(_HOMES, key=lambda name: (name.islower(), name))  # noqa: PLE0605


def __getattr__(name: str) -> object:
    """Load a name on first use (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
