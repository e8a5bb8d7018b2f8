"""What can go wrong with studies and accounts, said in sentences."""

from audit.errors import AuditError


class StudyError(AuditError):
    """A study does not allow what was asked of it. Nothing was changed."""


class ConflictError(StudyError):
    """The same thing was done differently elsewhere a moment ago, for example in another tab."""


class SignInError(AuditError):
    """Signing in failed; the text never says whether the name or the password was wrong."""
