"""One model on many devices: what each of them holds, what they send each other, how long they wait.

Tensor, pipeline, data and expert parallelism, ZeRO and FSDP; :mod:`~weighbridge.accounts.parallel.account` puts them together.
"""
