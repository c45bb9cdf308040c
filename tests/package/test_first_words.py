"""What people type first: it works, or its error contains what to type instead."""

import numpy as np
import pytest

from rocmax import AUCSVC, PartialAUCEnsembleClassifier, PartialAUCSVC, PartialAUCSVCCV, metrics
from rocmax.boosting import PartialAUCBoostingClassifier, PartialAUCObjective, partial_auc_metric
from rocmax.display import ROCDisplay

rng = np.random.default_rng(0)
Y = np.arange(80) % 2
S = rng.normal(size=80) + Y
TWO = {"new": S, "old": rng.normal(size=80) + Y}
X = rng.normal(size=(80, 3)) + Y[:, None]
NAMES = dict(vars(metrics)) | {name: getattr(metrics, name) for name in metrics.__all__}
NAMES |= {one.__name__: one for one in (AUCSVC, PartialAUCEnsembleClassifier, PartialAUCSVC, PartialAUCSVCCV)}
NAMES |= {one.__name__: one for one in (PartialAUCBoostingClassifier, PartialAUCObjective, ROCDisplay)}
NAMES |= {"partial_auc_metric": partial_auc_metric, "Y": Y, "S": S, "TWO": TWO, "X": X}
#: A line, and what it is equal to.
SAME = {
    "PartialAUC(0.1)": "PartialAUC((0, 0.1))",
    "PartialAUC(specificity=(0.9, 1))": "PartialAUC((0, 0.1))",
    "PartialAUC(specificity=0.9)": "PartialAUC((0, 0.1))",
    "PartialAUC(sensitivity=(0.8, 1))": "PartialAUC(tpr_range=(0.8, 1))",
    "partial_auc_score(Y, S, max_fpr=0.1)": "partial_auc_score(Y, S, (0, 0.1))",
    "partial_auc_score(Y, S, 0.1)": "partial_auc_score(Y, S, (0, 0.1))",
    "roc_auc_score(Y, S, max_fpr=0.2)": "partial_auc_score(Y, S, 0.2, normalize='mcclish')",
    "infer(Y, S, 'roc_auc').estimate": "infer(Y, S).estimate",
    "infer(Y, S, 'ap').estimate": "AveragePrecision()(Y, S)",
    "infer(Y, S, 'gini').estimate": "2 * infer(Y, S).estimate - 1",
    "tuple(infer(Y, S, 'gini').confidence_interval)": "tuple(2 * x - 1 for x in infer(Y, S).confidence_interval)",
    "infer(Y, S, 'ks').estimate": "operating_point(Y, S).tpr - operating_point(Y, S).fpr",
    "infer(Y, S, 'youden').estimate": "infer(Y, S, 'ks').estimate",
    "compare(Y, TWO, 'gini').difference": "2 * compare(Y, TWO).difference",
    "PartialAUCSVC(0.2).fit(X, Y).coef_.tolist()": "PartialAUCSVC((0, 0.2)).fit(X, Y).coef_.tolist()",
    "PartialAUCSVC((0.1, 0.5), surrogate='dc').fit(X, Y).surrogate_": "'hinge'",
    "PartialAUCSVC(0.2).fit(X, Y).score(X, Y)": "PartialAUCSVC((0, 0.2)).fit(X, Y).score(X, Y)",
    "partial_auc_metric(0.5)(Y, S)": "partial_auc_metric((0, 0.5))(Y, S)",
    "PartialAUCObjective(0.5)(Y, S)[0].tolist()": "PartialAUCObjective((0, 0.5))(Y, S)[0].tolist()",
    "operating_point(Samples(Y, S), ('fpr', 0.1)).tpr": "TPRAtFPR(0.1)(Y, S)",
    "operating_point(Y, S, ('sensitivity', 0.9)).fpr": "FPRAtTPR(0.9)(Y, S)",
    "operating_point(Samples(Y, TWO), 'youden')['old'].threshold": "operating_point(Y, TWO['old']).threshold",
    "AtThreshold('sensitivity', 0.5)(Y, S)": "operating_point(Y, S, threshold=0.5).tpr",
    "AtThreshold('accuracy', 0.5)(Y, S)": "operating_point(Y, S, threshold=0.5).accuracy",
    "compare(Y, TWO, margin=0.1, alternative='non-inferiority').margin": "0.1",
    "SmoothedAUC('binormal', 0.2)": "SmoothedAUC('binormal', (0, 0.2))",
}
#: A line, and what its error says to type instead.
TOLD = {
    "PartialAUC(max_fpr=0.1)": "fpr_range=(0, max_fpr)",
    "PartialAUC((1, 0.9))": "as specificities they are fpr_range=(0.0, 0.1)",
    "PartialAUC(fpr=(0, 0.1))": "did you mean 'fpr_range'?",
    "PartialAUCSVC(max_fpr=0.1)": "fpr_range=(0, max_fpr)",
    "PartialAUCSVC(specificity=(0.9, 1))": "fpr_range=(1 - high, 1 - low)",
    "PartialAUCSVC(fpr_rang=(0, 0.1))": "did you mean 'fpr_range'?",
    "PartialAUCSVC(surrogate='rammp').fit(X, Y)": "did you mean 'ramp'?",
    "PartialAUCSVCCV(seed=0)": "did you mean 'random_state'?",
    "PartialAUCBoostingClassifier(max_fpr=0.1)": "fpr_range=(0, max_fpr)",
    "PartialAUCEnsembleClassifier(n_threads=2)": "did you mean 'n_jobs'?",
    "ROCDisplay.from_predictions(Y, S, max_fpr=0.1)": "fpr_range=(0, max_fpr)",
    "infer(Y, S, max_fpr=0.1)": "PartialAUC((0, b))",
    "infer(Y, S, specificity=(0.9, 1))": "PartialAUC(specificity=(b, 1))",
    "infer(Y, S, metric='auc')": "did you mean 'measure'?",
    "infer(Y, S, conf_level=0.9)": "did you mean 'confidence_level'?",
    "infer(Y, S, boot_n=500)": "method=Bootstrap(n)",
    "infer(Y, S, direction='<')": "did you mean 'higher_is_better'?",
    "infer(Y, S, weights=S)": "did you mean 'sample_weight'?",
    "infer(Y, S, multi_class='ovr')": "measure=AUC(multi_class=...)",
    "infer(Y, S, 'pauc')": "did you mean 'partial_auc'?",
    "infer(Y, S, 'sensitivity')": "AtThreshold('sensitivity', threshold)",
    "infer(Y, S, 'f1_score')": "AtThreshold('f1', threshold)",
    "infer(Y, S, 'precision_at')": "PrecisionAt(...)",
    "infer(Y, S, method='delon')": "did you mean 'delong'?",
    "AtThreshold('recall', 0.5)": "did you mean 'sensitivity'?",
    "compare(Y, TWO, equivalence_margin=0.1)": "did you mean 'margin'?",
    "compare(Y, TWO, null_difference=-0.05)": "did you mean 'margin'?",
    "compare(Y, TWO, margin=0.05)": "alternative='non-inferiority' or 'equivalence'",
    "compare(Y, TWO, alternative='noninferiority', margin=0.1)": "did you mean 'non-inferiority'?",
    "auc_sample_size(0.8, non_inferiority_margin=0.1)": "did you mean 'margin'?",
    "auc_power(0.8, n_pos=9, n_neg=9, alpha=0.1)": "did you mean 'significance_level'?",
    "operating_point(Y, S, cost=5)": "threshold=('cost', ratio)",
    "operating_point(Y, S, threshold='f_score')": "did you mean 'f1'?",
    "operating_point(Samples(Y, S), [0.1, 0.5])": "or name the argument that it is",
    "roc_curve(Y, S, drop_intermediat=False)": "did you mean 'drop_intermediate'?",
    "cross_validated_auc(Y, S, fold=Y, metric='auc')": "did you mean 'measure'?",
    "mrmc_analysis(Y, S, readers_names=Y)": "did you mean",
    "Samples(Y, S, groop=Y)": "did you mean 'groups'?",
    "precision_recall_curve(Y, probas_pred=S)": "did you mean 'y_score'?",
    "infer(Y, S, 'sens')": "AtThreshold('sensitivity', threshold)",
    "infer(Y, S, 'kap')": "AtThreshold('kappa', threshold)",
    "infer(Y, S, 'j_index')": "did you mean 'youden'?",
    "infer(Y, S, event_level='second')": "did you mean 'pos_label'?",
    "infer(Y, S, smooth=True)": "measure=SmoothedAUC('binormal')",
    "infer(Y, S, partial_auc=(1, 0.9))": "PartialAUC(specificity=(b, 1))",
    "infer(Y, S, partial_auc_correct=True)": "normalize='mcclish'",
    "PartialAUC((0, 0.1), correct=True)": "normalize='mcclish'",
    "partial_auc_score(Y, S, min_tpr=0.8)": "tpr_range=(min_tpr, 1)",
    "compare(Y, TWO['new'], TWO['old'])": "pass the scores of all models as y_score",
    "compare(Y, TWO, alternative='two.sided')": "did you mean 'two-sided'?",
    "compare(Y, TWO, boot_n=500)": "method=Bootstrap(n)",
    "operating_point(Y, S, threshold='closest.topleft')": "did you mean 'closest'?",
    "operating_point(Y, S, best_method='youden')": "did you mean 'threshold'?",
    "operating_point(Y, S, sensitivity=0.9)": "threshold=('sensitivity', rate)",
    "ROCDisplay.from_predictions(Y, S, legacy_axes=True)": "axes='rates', or 'sensitivity-specificity'",
    "ROCDisplay.from_predictions(Y, S, print_thres='best')": "thresholds=['youden']",
    "PartialAUCSVC(c=0.01)": "did you mean 'C'?",
    "PartialAUCSVC(epsilon=0.1)": "did you mean 'tol'?",
    "PartialAUCSVC(loss='hinge')": "did you mean 'surrogate'?",
    "PartialAUCSVC(kernel='polynomial').fit(X, Y)": "did you mean 'poly'?",
    "PartialAUCBoostingClassifier(max_depth=3)": "did you mean 'library_params'?",
    "PrecisionAt(20, groups=Y)": "did you mean 'per'?",
    "mrmc_analysis(Y, S, reader=Y, treatment=Y, case=Y)": "did you mean 'modality'?",
    "compare(Y, TWO, paired=False)": "labels as a mapping {model: y}",
    "Bootstrap(n=500)": "did you mean 'n_resamples'?",
    "PartialAUC(0.05, 0.1)": "takes by position fpr_range; name all other arguments (a range is one pair",
    "PartialAUCSVC((0, 0.1), 1.0)": "takes by position fpr_range; name all other arguments",
    "auc_power(0.8, 50, 50)": "takes by position auc; name all other arguments",
    "auc_power(0.8, ncases=50, ncontrols=50)": "did you mean 'n_pos'?",
    "auc_sample_size(0.8, prevalence=0.1)": "ratio=(1 - prevalence) / prevalence",
    "tpr_at_fpr_score(Y, S, max_fpr=0.1)": "did you mean 'fpr'?",
    "TPRAtFPR(specificity=0.9)": "fpr=1 - specificity",
    "FPRAtTPR(sensitivity=0.9)": "tpr=sensitivity",
    "partial_auc_score(Y, S, sensitivity=(0.8, 1))": "tpr_range=",
    "partial_auc_score(Y, S, standardize=True)": "normalize='mcclish'",
    "operating_point(Y, S, tpr=0.9)": "threshold=('sensitivity', rate)",
    "operating_point(Y, S, alerts=20, per=Y)": "threshold=('alerts', k)",
    "compare(Y, TWO, alerts=20, per=Y)": "measure=PrecisionAt(k, per=...)",
    "infer(Y, S, cutoff=0.5)": "measure=AtThreshold(name, threshold)",
    "infer(response=Y, predictor=S)": "did you mean 'y_true'?",
    "infer(S, Y)": "are labels and scores swapped?",
    "infer(Y, S, 'somers_d')": "did you mean 'gini'?",
    "AUCSVC(lambda_=1)": "did you mean 'C'?",
    "PartialAUCSVC(class_weight='balanced')": "it takes fpr_range, surrogate, C",
}
COMMANDS = {
    "evaluate scores.csv --labels y --score s": "did you mean --label?",
    "evaluate scores.csv --label y --score s --max-fpr 0.1": "did you mean --fpr?",
    "fit train.csv --label y --out m --model boost": "did you mean 'boosting'?",
    "train scores.csv": "did you mean 'fit'?",
    "compare scores.csv --label y --score a b --measure alerts:20": "unknown measure; measures are auc, ",
    "evalute scores.csv": "did you mean 'evaluate'?",
    "evaluate scores.csv --label y --score s --measure pauc": "did you mean 'partial_auc'",
    "evaluate scores.csv --label y --score s --specificity 1 0.9": "--specificity 1 0.9: need 0 <= LOW < HIGH <= 1",
}


@pytest.mark.parametrize("line", SAME)
def test_it_works(line):
    found, expected = (eval(text, NAMES) for text in (line, SAME[line]))
    assert found == (pytest.approx(expected) if isinstance(expected, (int, float, tuple)) else expected)


@pytest.mark.parametrize("line", TOLD)
def test_its_error_tells_what_to_type(line):
    with pytest.raises((TypeError, ValueError)) as told:
        eval(line, NAMES)
    assert TOLD[line] in str(told.value)


@pytest.mark.parametrize(
    "name, instead",
    {"p_value": "pvalue", "ci": "confidence_interval", "std_err": "standard_error", "auc": "estimate"}.items(),
)
def test_an_attribute_of_a_result_that_others_call_so(name, instead):
    with pytest.raises(
        AttributeError, match=f"'Inference' object has no attribute '{name}'; did you mean '{instead}'?"
    ):
        getattr(metrics.infer(Y, S), name)


def test_an_attribute_that_many_models_lack_says_where_it_is():
    with pytest.raises(AttributeError, match="a comparison of 3 models has a pvalue per pair: see pairs"):
        metrics.compare(Y, [[s, -s, 2 - s] for s in S], "auc").pvalue  # noqa: B018


def test_probabilities_of_both_classes_are_no_two_models():
    both = np.column_stack([1 - Y, Y]) * 0.5 + 0.25
    with pytest.warns(UserWarning, match=r"two columns that sum to 1: pass y_score\[:, 1\]"):
        assert metrics.roc_auc_score(Y, both).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_tells_what_to_type(line, run):
    code, _, err = run(*line.split())
    assert code == 2 and COMMANDS[line] in err


def test_both_words_of_a_range_are_shown():
    assert repr(metrics.PartialAUC(0.1)) == "PartialAUC(fpr_range=(0.0, 0.1), specificity=(0.9, 1.0))"
    assert eval(repr(metrics.PartialAUC(0.1)), NAMES) == metrics.PartialAUC(0.1)
    assert str(metrics.PartialAUC((0.9, 1))) == "partial AUC (FPR 0.9-1, specificity 0-0.1)"
    with pytest.raises(ValueError, match=r"give fpr_range or specificity, which stands for fpr_range=\(0.0, 0.1\)"):
        metrics.PartialAUC(0.2, specificity=(0.9, 1))
