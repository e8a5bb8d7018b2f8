"""Errors of studies and accounts; each message is written for the person who reads it."""

from audit.errors import AuditError


class StudyError(AuditError):
    """The study does not allow what was requested. Nothing was changed."""


class ConflictError(StudyError):
    """The same record was changed elsewhere a moment ago, for example in another tab."""


class SignInError(AuditError):
    """Signing in failed. The message never reveals whether the name or the password was wrong."""
