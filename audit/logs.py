"""The server's log: one line per event on standard error, as text or JSON (AUDIT_LOG), filtered by level (AUDIT_LOG_LEVEL)."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

TEXT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"


class JsonFormatter(logging.Formatter):
    """One JSON object per line: time (UTC, ISO 8601), level, logger, message, and exception where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line."""
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False)


def handler(log_format: str) -> logging.Handler:
    """A handler that writes to standard error. log_format: text or json."""
    stream = logging.StreamHandler()
    stream.setFormatter(JsonFormatter() if log_format == "json" else logging.Formatter(TEXT))
    return stream


def start_logging(log_format: str, level: str) -> None:
    """Send everything that is logged in this process, and warnings, to standard error. level: such as info."""
    logging.basicConfig(level=level.upper(), handlers=[handler(log_format)], force=True)
    logging.captureWarnings(capture=True)
