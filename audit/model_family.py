"""Whether a judge is of the same family of models as what wrote the answers: it may then favour texts like its own.

Panickssery, Bowman and Feng (2024), "LLM evaluators recognize and favor their own generations", NeurIPS 37.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

FAMILIES = {
    "Qwen": "qwen|qwq", "Llama": "llama", "Gemma": "gemma", "Gemini": "gemini", "GPT": "gpt|chatgpt|o[134](?:-mini)?",
    "Claude": "claude", "Mistral": "mistral|mixtral|ministral|magistral", "DeepSeek": "deepseek", "Phi": "phi",
    "Command": "command|aya", "OLMo": "olmo|tulu", "Granite": "granite", "GLM": "glm|chatglm", "Kimi": "kimi",
    "Nemotron": "nemotron", "Falcon": "falcon", "Yi": "yi", "InternLM": "internlm",
}  # fmt: skip
"""Family -> how the names of its models begin, as a pattern."""
# A word of a name: meta-llama/Llama-3.3-70B begins two words of one family; "graphite" begins none of "phi".
WORD = r"(?<![A-Za-z])(?:{})(?![a-z])"


def model_family(name: str) -> str | None:
    """The family of a model by its name, such as `Qwen/Qwen3-32B`; None where it is not known, or names several families."""
    families = {family for family, words in FAMILIES.items() if re.search(WORD.format(words), name, re.IGNORECASE)}
    return families.pop() if len(families) == 1 else None


def self_preference_note(manifest: Mapping[str, object]) -> str:
    """A warning to readers if one family of models wrote the answers and judged them; "" otherwise."""
    generator, judge = (model_family(str(manifest.get(name) or "")) for name in ("generator", "judge"))
    if generator is None or generator != judge:
        return ""
    return (
        f"One family of models ({generator}) wrote the answers and judged them. A judge may favour texts like its own. Both "
        "answers of a pair have the same writer, so neither is favoured over the other; but faults that the family shares may be "
        "overlooked, and agreement overstated. People's labels, or a judge of another family, tell how much."
    )
