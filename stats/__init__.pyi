from spanjury.stats.bounded_means import BoundedMean as BoundedMean
from spanjury.stats.bounded_means import RisingMean as RisingMean
from spanjury.stats.bounded_means import bounded_mean as bounded_mean
from spanjury.stats.calibration_error import calibration_error as calibration_error
from spanjury.stats.combination.discernment import discernment_score as discernment_score
from spanjury.stats.combination.discernment import linear_pool as linear_pool
from spanjury.stats.combination.discernment import target_contrast as target_contrast
from spanjury.stats.combination.harmonic_mean import (
    harmonic_mean_calibrated as harmonic_mean_calibrated,
)
from spanjury.stats.combination.harmonic_mean import harmonic_mean_paper as harmonic_mean_paper
from spanjury.stats.combination.harmonic_mean import harmonic_mean_wilson as harmonic_mean_wilson
from spanjury.stats.combination.harmonic_mean import landau_threshold as landau_threshold
from spanjury.stats.combination.multiplicity import holm as holm
from spanjury.stats.conformal import ConformalThreshold as ConformalThreshold
from spanjury.stats.conformal import conformal_threshold as conformal_threshold
from spanjury.stats.conformal import items_for_rate as items_for_rate
from spanjury.stats.correlations.correlation import Correlation as Correlation
from spanjury.stats.correlations.correlation import correlation as correlation
from spanjury.stats.correlations.correlation import correlations as correlations
from spanjury.stats.correlations.grouping import level_correlation as level_correlation
from spanjury.stats.correlations.grouping import level_correlations as level_correlations
from spanjury.stats.correlations.metric_permutation import compared_metrics as compared_metrics
from spanjury.stats.correlations.metric_permutation import perm_both as perm_both
from spanjury.stats.correlations.pairwise import darr as darr
from spanjury.stats.correlations.pairwise import pairwise_accuracy as pairwise_accuracy
from spanjury.stats.correlations.pairwise import tie_calibrated_accuracy as tie_calibrated_accuracy
from spanjury.stats.correlations.resampled_correlations import (
    correlation_difference as correlation_difference,
)
from spanjury.stats.correlations.resampled_correlations import (
    correlation_estimate as correlation_estimate,
)
from spanjury.stats.correlations.resampled_correlations import (
    resampled_correlations as resampled_correlations,
)
from spanjury.stats.correlations.system_pairs import (
    soft_pairwise_accuracy as soft_pairwise_accuracy,
)
from spanjury.stats.correlations.system_pairs import system_accuracy as system_accuracy
from spanjury.stats.effects import difference_effects as difference_effects
from spanjury.stats.effects import scale_effects as scale_effects
from spanjury.stats.moderation import MarkVariance as MarkVariance
from spanjury.stats.moderation import mark_variance as mark_variance
from spanjury.stats.moderation import moderated as moderated
from spanjury.stats.monotone import centred_fit as centred_fit
from spanjury.stats.monotone import decreasing_fit as decreasing_fit
from spanjury.stats.monotone import decreasing_steps as decreasing_steps
from spanjury.stats.monotone import increasing_fit as increasing_fit
from spanjury.stats.paired_comparisons import BradleyTerry as BradleyTerry
from spanjury.stats.paired_comparisons import bradley_terry as bradley_terry
from spanjury.stats.paired_comparisons import bradley_terry_effect as bradley_terry_effect
from spanjury.stats.paired_comparisons import bradley_terry_scores as bradley_terry_scores
from spanjury.stats.powered_estimates import PoweredEstimate as PoweredEstimate
from spanjury.stats.prediction_powered import marks_needed as marks_needed
from spanjury.stats.prediction_powered import powered_difference as powered_difference
from spanjury.stats.prediction_powered import powered_mean as powered_mean
from spanjury.stats.prediction_powered import powered_tuning as powered_tuning
from spanjury.stats.proportions import Proportion as Proportion
from spanjury.stats.proportions import clustered_proportion as clustered_proportion
from spanjury.stats.raters.agreement import cohen_kappa as cohen_kappa
from spanjury.stats.raters.agreement import fleiss_kappa as fleiss_kappa
from spanjury.stats.raters.agreement import krippendorff_alpha as krippendorff_alpha
from spanjury.stats.raters.ensembles import ensemble_curve as ensemble_curve
from spanjury.stats.raters.ensembles import leave_one_out as leave_one_out
from spanjury.stats.raters.graded import OrdinalScores as OrdinalScores
from spanjury.stats.raters.graded import ordinal_scores as ordinal_scores
from spanjury.stats.raters.latent import DawidSkene as DawidSkene
from spanjury.stats.raters.latent import dawid_skene as dawid_skene
from spanjury.stats.redundancy import Redundancy as Redundancy
from spanjury.stats.redundancy import rater_redundancy as rater_redundancy
from spanjury.stats.resampling import Interval as Interval
from spanjury.stats.resampling import Jackknifed as Jackknifed
from spanjury.stats.resampling import bootstrap as bootstrap
from spanjury.stats.resampling import jackknife as jackknife
from spanjury.stats.resampling import percentile_interval as percentile_interval
from spanjury.stats.roc import auroc as auroc
from spanjury.stats.roc import caught_share as caught_share
from spanjury.stats.sampling_design import StratifiedSample as StratifiedSample
from spanjury.stats.sampling_design import WeightedMean as WeightedMean
from spanjury.stats.sampling_design import stratified as stratified
from spanjury.stats.sampling_design import weighted_mean as weighted_mean
from spanjury.stats.shapley import shapley_values as shapley_values
from spanjury.stats.shapley import subset_worths as subset_worths
from spanjury.stats.significance.equivalence import Equivalence as Equivalence
from spanjury.stats.significance.equivalence import equivalence as equivalence
from spanjury.stats.significance.joint import joint_sign_flip as joint_sign_flip
from spanjury.stats.significance.paired import PairedStatistic as PairedStatistic
from spanjury.stats.significance.paired import PairedTest as PairedTest
from spanjury.stats.significance.paired import Pairs as Pairs
from spanjury.stats.significance.paired import paired as paired
from spanjury.stats.significance.power import discernible_effect as discernible_effect
from spanjury.stats.significance.power import items_needed as items_needed
from spanjury.stats.significance.power import sign_flip_power as sign_flip_power
from spanjury.stats.significance.power import simulated_power as simulated_power
from spanjury.stats.significance.sign_flip import paired_test as paired_test
from spanjury.stats.significance.sign_flip import sign_flip as sign_flip
from spanjury.stats.significance.sign_test import sign_test as sign_test
from spanjury.stats.significance.signed_rank import signed_rank as signed_rank
from spanjury.stats.spans.gamma import Gamma as Gamma
from spanjury.stats.spans.gamma import gamma as gamma
from spanjury.stats.spans.localisation import Localisation as Localisation
from spanjury.stats.spans.localisation import localisation as localisation
from spanjury.stats.spans.span_agreement import character_overlap as character_overlap
from spanjury.stats.spans.span_agreement import exact_overlap as exact_overlap
from spanjury.stats.spans.span_agreement import graded_overlap as graded_overlap
from spanjury.stats.spans.span_detection import count_correlation as count_correlation
from spanjury.stats.spans.span_detection import detection as detection
from spanjury.stats.spans.span_detection import hallucination_rate as hallucination_rate
from spanjury.stats.spans.span_matching import matched_overlap as matched_overlap
from spanjury.stats.spans.span_matching import matching as matching

__all__ = [
    "BradleyTerry",
    "ConformalThreshold",
    "Correlation",
    "DawidSkene",
    "Equivalence",
    "Gamma",
    "Interval",
    "Jackknifed",
    "Localisation",
    "MarkVariance",
    "OrdinalScores",
    "PairedStatistic",
    "PairedTest",
    "Pairs",
    "PoweredEstimate",
    "Proportion",
    "Redundancy",
    "StratifiedSample",
    "WeightedMean",
    "auroc",
    "bootstrap",
    "bradley_terry",
    "bradley_terry_effect",
    "bradley_terry_scores",
    "caught_share",
    "centred_fit",
    "character_overlap",
    "clustered_proportion",
    "cohen_kappa",
    "compared_metrics",
    "conformal_threshold",
    "correlation",
    "correlation_difference",
    "correlation_estimate",
    "correlations",
    "count_correlation",
    "darr",
    "dawid_skene",
    "decreasing_fit",
    "decreasing_steps",
    "detection",
    "difference_effects",
    "discernible_effect",
    "discernment_score",
    "ensemble_curve",
    "equivalence",
    "exact_overlap",
    "fleiss_kappa",
    "gamma",
    "graded_overlap",
    "hallucination_rate",
    "harmonic_mean_calibrated",
    "harmonic_mean_paper",
    "harmonic_mean_wilson",
    "holm",
    "increasing_fit",
    "items_for_rate",
    "items_needed",
    "jackknife",
    "joint_sign_flip",
    "krippendorff_alpha",
    "landau_threshold",
    "leave_one_out",
    "level_correlation",
    "level_correlations",
    "linear_pool",
    "localisation",
    "mark_variance",
    "marks_needed",
    "matched_overlap",
    "matching",
    "moderated",
    "ordinal_scores",
    "paired",
    "paired_test",
    "pairwise_accuracy",
    "percentile_interval",
    "perm_both",
    "powered_difference",
    "powered_mean",
    "powered_tuning",
    "rater_redundancy",
    "resampled_correlations",
    "scale_effects",
    "shapley_values",
    "sign_flip",
    "sign_flip_power",
    "sign_test",
    "signed_rank",
    "simulated_power",
    "soft_pairwise_accuracy",
    "stratified",
    "subset_worths",
    "system_accuracy",
    "target_contrast",
    "tie_calibrated_accuracy",
    "weighted_mean",
]
