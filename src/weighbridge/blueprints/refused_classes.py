"""Why a class of the reference library is not weighed: what no config states, or which part of it has not been described yet."""

from __future__ import annotations

from weighbridge.core.messages import mark

WITH_PREFIX = mark("it is built inside SeamlessM4Tv2TextToUnitForConditionalGeneration, from the keys that begin with t2u_")
REASONS = {
    "PatchTSTEncoder": mark("it takes the number of patches beside the config; PatchTSTModel works it out and holds it"),
    "SeamlessM4Tv2TextToUnitDecoder": WITH_PREFIX,
    "SeamlessM4Tv2TextToUnitModel": WITH_PREFIX,
}
"""By class, or by model type where that is for all of its classes."""
