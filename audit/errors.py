"""What can go wrong, said in sentences: where, what was found, what is allowed, what happened to the data, what next."""


class AuditError(Exception):
    """A problem a person can act on. Its text is shown as it stands, in a terminal or on a page."""


class ReleaseError(AuditError):
    """A release as a whole cannot be used: nothing was loaded."""


class DocumentError(AuditError):
    """A handbook's text, or the file it is in, cannot be used."""


class QuestionsError(AuditError):
    """Questions, the taxonomy for their tags, or what was decided of them cannot be read or written."""


class MissingLibraryError(AuditError):
    """A library that only an extra brings is needed and not installed."""


class EmbeddingError(AuditError):
    """Texts cannot be turned into vectors: no such model, other weights than it should have, or a damaged cache."""


class RetrievalError(AuditError):
    """Nothing can be retrieved: no such strategy, a table or a list of questions that cannot be used."""


class ThemesError(AuditError):
    """A taxonomy of themes cannot be read, built or used."""


class UnknownRunError(AuditError):
    """No loaded run goes by the name asked for."""


class NotInRunError(AuditError):
    """The run is there, but not the question, handbook, pair or answers that were asked of it."""


class ConfigError(AuditError):
    """A config of `audit run` says something that it may not."""


def plainly(error: Exception) -> str:
    """What went wrong with a file, without Python's own words and without its path, which the sentence around it names."""
    if isinstance(error, UnicodeDecodeError):
        return f"the text is not UTF-8 (byte {error.start}); save the file as UTF-8"
    told = error.strerror if isinstance(error, OSError) else None
    return f"{told[0].lower()}{told[1:]}" if told else str(error)
