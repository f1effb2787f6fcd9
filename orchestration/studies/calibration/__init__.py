"""Calibration of a panel on texts that people marked: fits, folds, figures."""
