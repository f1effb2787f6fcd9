from spanjury.orchestration.engine.metering import Limits as Limits
from spanjury.orchestration.engine.stopping import FailurePolicy as FailurePolicy
from spanjury.orchestration.engine.stopping import StopToken as StopToken
from spanjury.orchestration.report import Report as Report
from spanjury.orchestration.report import Section as Section
from spanjury.orchestration.report import table as table
from spanjury.orchestration.services.judging.exam_texts import DEMO as DEMO
from spanjury.orchestration.services.exams.agreement import ameta as ameta
from spanjury.orchestration.services.exams.agreement import meta as meta
from spanjury.orchestration.services.exams.comparisons import acompare as acompare
from spanjury.orchestration.services.exams.comparisons import acompare_exams as acompare_exams
from spanjury.orchestration.services.exams.comparisons import compare as compare
from spanjury.orchestration.services.exams.comparisons import compare_exams as compare_exams
from spanjury.orchestration.services.exams.discernment import adiscernment as adiscernment
from spanjury.orchestration.services.exams.discernment import discernment as discernment
from spanjury.orchestration.services.exams.faithfulness import afaithfulness as afaithfulness
from spanjury.orchestration.services.exams.faithfulness import faithfulness as faithfulness
from spanjury.orchestration.services.exams.perturb import aperturb as aperturb
from spanjury.orchestration.services.exams.perturb import perturb as perturb
from spanjury.orchestration.services.exams.repair import arepair as arepair
from spanjury.orchestration.services.exams.repair import repair as repair
from spanjury.orchestration.services.exams.robustness import arobustness as arobustness
from spanjury.orchestration.services.exams.robustness import robustness as robustness
from spanjury.orchestration.services.exams.span_bench import aspan_bench as aspan_bench
from spanjury.orchestration.services.exams.span_bench import span_bench as span_bench
from spanjury.orchestration.services.exams.study import Live as Live
from spanjury.orchestration.services.exams.study import PanelStudy as PanelStudy
from spanjury.orchestration.services.exams.study import Parameter as Parameter
from spanjury.orchestration.services.exams.study import Plan as Plan
from spanjury.orchestration.services.exams.study import scope_of as scope_of
from spanjury.orchestration.services.exams.study_report import StudyReport as StudyReport
from spanjury.orchestration.services.exams.study_report import exam_report as exam_report
from spanjury.orchestration.studies.card import Measure as Measure
from spanjury.orchestration.services.exams.perturb import PerturbedTexts as PerturbedTexts
from spanjury.orchestration.services.exams.calibration import acalibrate as acalibrate
from spanjury.orchestration.services.exams.calibration import calibrate as calibrate
from spanjury.orchestration.services.exams.pairs import apairs as apairs
from spanjury.orchestration.services.exams.pairs import pairs as pairs
from spanjury.orchestration.services.exams.preference import apreference as apreference
from spanjury.orchestration.services.exams.preference import preference as preference
from spanjury.orchestration.services.exams.panels import apanel_cascade as apanel_cascade
from spanjury.orchestration.services.exams.panels import apanel_study as apanel_study
from spanjury.orchestration.services.exams.panels import panel_cascade as panel_cascade
from spanjury.orchestration.services.exams.panels import panel_study as panel_study
from spanjury.orchestration.services.exams.ranking import arank as arank
from spanjury.orchestration.services.exams.ranking import rank as rank

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
