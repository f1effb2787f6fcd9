from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.stopping import FailurePolicy, StopToken
from spanjury.orchestration.report import Report, Section, table
from spanjury.orchestration.services.exams.agreement import ameta, meta
from spanjury.orchestration.services.exams.calibration import acalibrate, calibrate
from spanjury.orchestration.services.exams.comparisons import (
    acompare,
    acompare_exams,
    compare,
    compare_exams,
)
from spanjury.orchestration.services.exams.discernment import adiscernment, discernment
from spanjury.orchestration.services.exams.faithfulness import afaithfulness, faithfulness
from spanjury.orchestration.services.exams.flag import Parameter
from spanjury.orchestration.services.exams.pairs import apairs, pairs
from spanjury.orchestration.services.exams.panels import (
    apanel_cascade,
    apanel_study,
    panel_cascade,
    panel_study,
)
from spanjury.orchestration.services.exams.perturb import PerturbedTexts, aperturb, perturb
from spanjury.orchestration.services.exams.preference import apreference, preference
from spanjury.orchestration.services.exams.ranking import arank, rank
from spanjury.orchestration.services.exams.repair import arepair, repair
from spanjury.orchestration.services.exams.robustness import arobustness, robustness
from spanjury.orchestration.services.exams.span_bench import aspan_bench, span_bench
from spanjury.orchestration.services.exams.study import Live, PanelStudy, Plan, scope_of
from spanjury.orchestration.services.exams.study_report import StudyReport, exam_report
from spanjury.orchestration.services.judging.exam_texts import DEMO
from spanjury.orchestration.studies.card import Measure, Range

__all__ = [
    "DEMO",
    "FailurePolicy",
    "Limits",
    "Live",
    "Measure",
    "PanelStudy",
    "Parameter",
    "PerturbedTexts",
    "Plan",
    "Range",
    "Report",
    "Section",
    "StopToken",
    "StudyReport",
    "acalibrate",
    "acompare",
    "acompare_exams",
    "adiscernment",
    "afaithfulness",
    "ameta",
    "apairs",
    "apanel_cascade",
    "apanel_study",
    "aperturb",
    "apreference",
    "arank",
    "arepair",
    "arobustness",
    "aspan_bench",
    "calibrate",
    "compare",
    "compare_exams",
    "discernment",
    "exam_report",
    "faithfulness",
    "meta",
    "pairs",
    "panel_cascade",
    "panel_study",
    "perturb",
    "preference",
    "rank",
    "repair",
    "robustness",
    "scope_of",
    "span_bench",
    "table",
]
