"""A check for continuous integration: JUnit XML, annotations of GitHub Actions, a Markdown summary.

Text from data is escaped for each of them by its own rules.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from polyculture.gate.records import CheckRecord, LimitRecord
from polyculture.report.check import bound_words, explanation, value_words
from polyculture.report.words import shown

__all__ = ["github_annotations", "junit", "markdown"]

# Characters that XML 1.0 cannot hold even escaped; `shown` has made controls and surrogates visible before.
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PUNCTUATION = re.compile(r"([!#$*:@\[\\\]^_`{|}~])")


def junit(record: CheckRecord) -> bytes:
    """Return a check as JUnit XML: a test case a number; undefined and allowed is skipped, all else fails."""
    skipped = record.undefined + record.broken - record.counted_as_broken
    counts = {"tests": str(len(record.limits)), "failures": str(record.counted_as_broken), "errors": "0"}
    counts["skipped"] = str(skipped)
    suites = ET.Element("testsuites", {"name": "polyculture check", **counts})
    suite = ET.SubElement(suites, "testsuite", {"name": _xml(record.file), **counts})
    for line in record.limits:
        case = ET.SubElement(
            suite, "testcase", classname=_xml(line.place), name=_xml(f"{line.field} {bound_words(line)}")
        )
        if line.counts_as_broken:
            failure = ET.SubElement(case, "failure", type=line.verdict, message=_xml(explanation(line)))
            failure.text = _xml(explanation(line))
        elif line.verdict == "undefined":
            ET.SubElement(case, "skipped", message=_xml(line.reason))
    ET.indent(suites)
    return bytes(ET.tostring(suites, encoding="utf-8", xml_declaration=True)) + b"\n"


def github_annotations(record: CheckRecord) -> str:
    """Return one ``::error`` line a number that counts as broken, and a ``::warning`` where undefined is allowed."""
    lines = []
    for line in record.limits:
        if line.verdict == "within":
            continue
        kind = "error" if line.counts_as_broken else "warning"
        properties = {"file": line.file or record.file, "title": f"{line.verdict}: {line.field}"}
        if line.file is not None and line.line is not None:
            properties["line"] = str(line.line)
        said = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
        lines.append(f"::{kind} {said}::{_message(explanation(line))}\n")
    return "".join(lines)


def markdown(record: CheckRecord) -> str:
    """Return a check as Markdown: the sentence, and a table of all numbers, the broken ones first."""
    lines = [
        f"### polyculture check: {_markdown(record.sentence)}",
        "",
        "| verdict | field | value | bound | why |",
        "| --- | --- | ---: | --- | --- |",
    ]
    lines += [_row(line) for line in sorted(record.limits, key=lambda line: not line.counts_as_broken)]
    return "\n".join(lines) + "\n"


def _row(line: LimitRecord) -> str:
    verdict = f"**{line.verdict}**" if line.counts_as_broken else line.verdict
    why = " ".join(part for part in (line.reason, line.because) if part)
    cells = (_markdown(text) for text in (line.field, value_words(line), bound_words(line), why))
    return f"| {verdict} | {' | '.join(cells)} |"


def _xml(text: str) -> str:
    return _NO_XML.sub("\ufffd", shown(text))


def _message(text: str) -> str:
    return shown(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def _markdown(text: str) -> str:
    """Return text that Markdown shows as it is: HTML as entities, all punctuation that could mean something escaped."""
    plain = shown(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"(?i)(www)\.", r"\1&#46;", _PUNCTUATION.sub(r"\\\1", plain))
