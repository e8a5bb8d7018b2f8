"""The baseline judge: plain rules on amounts, denials and words. No model is asked; a model that judges must do better."""

from audit.judging.baseline.rules import NAME, judge

__all__ = ["NAME", "judge"]
