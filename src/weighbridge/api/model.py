"""A model with a method for every account. What a method does stands in a lower room, as a function of a :class:`~weighbridge.value.ModelValue`."""

from __future__ import annotations

from weighbridge.accounts.parameters import Tally, tally_of
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.tree import Part, Row
from weighbridge.load import load
from weighbridge.value import ModelValue

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from weighbridge.accounts.adapters.account import AdapterCount
    from weighbridge.accounts.adapters.costs import AdapterCosts
    from weighbridge.accounts.cache import CacheSize
    from weighbridge.accounts.fits.account import Fit
    from weighbridge.accounts.flops import Flops
    from weighbridge.accounts.memory.account import Memory
    from weighbridge.accounts.parallel.account import Parallel
    from weighbridge.conventions.arithmetic import Arithmetic
    from weighbridge.conventions.counts import Count
    from weighbridge.conventions.reconcile import Reconciliation
    from weighbridge.conventions.reconcile_flops import FlopsReconciliation
    from weighbridge.core.formula import Symbol
    from weighbridge.explain.derive import Derivation
    from weighbridge.explain.formulas import Formula


class Model(ModelValue):
    """One model, made by :func:`model`: a value with a method for every account.

    Attributes:
        source: What it was made from, in words.
        kind: ``config``, ``checkpoint`` or ``module``.
        class_name: The class that is counted, or the empty string if a file does not tell.
        tree: The tree of parts.
        notes: Sentences on how the source was understood.
        description: The family, config and sizes, if it was made from a config.
        stored: Elements in the file, if it was made from a checkpoint and they are not the tree's.
        unknown: Key paths in the config that no field names; they were not taken into account.
    """

    __slots__ = ()

    def count(self) -> Tally:
        """Count the parameters in every convention.

        >>> model("bert-base-chinese").count().unique
        102267648
        """
        return tally_of(self)

    def tensors(self, names: str = "reference") -> list[Row]:
        """List every tensor in the reference's order, ties named.

        Args:
            names: ``reference``; ``checkpoint``, as the reference library saves them; or another set that the
                family knows, such as ``tensorflow``.

        Raises:
            UsageError: The family does not know that set of names.

        >>> model("bert-base-uncased").tensors()[0].name
        'embeddings.word_embeddings.weight'
        """
        if names == "reference":
            return list(self.list_tensors())
        from weighbridge.verification.checkpoint_names import list_tensors

        return list_tensors(self, names)

    def symbolic(self) -> tuple[Part, dict[str, Symbol], dict[str, int]]:
        """Return the tree with symbols for sizes, the symbols by letter, and their values.

        Raises:
            UsageError: The model was not made from a config.
        """
        from weighbridge.explain.symbolic import symbolic

        return symbolic(self)

    def formula(self) -> Formula:
        """Return the closed formula of the unique parameters, per module and in total.

        >>> str(model("bert-base-uncased").formula())
        'V*H + S*H + T*H + H^2 + 3*H + L*(4*H^2 + 2*H*I + 9*H + I)'
        """
        from weighbridge.explain.formulas import parameter_formula

        return parameter_formula(self)

    def explain(self, lang: str = "en", module: str = "", depth: int | None = None) -> Derivation:
        """Derive the number of parameters: sections, formulas, substitutions, numbers.

        Args:
            lang: The language of titles and sentences, ``en`` or ``zh``.
            module: Only this module, such as ``encoder.layer.attention``.
            depth: How many levels of sections to keep.

        >>> model("bert-base-chinese").explain("zh").total
        102267648
        """
        from weighbridge.explain.derive import derive

        return derive(self, lang, module=module, depth=depth)

    def counts(self, lang: str = "en") -> tuple[Count, ...]:
        """List all legitimate counts, each with its definition and with who counts that way.

        >>> [row.value for row in model("bert-base-uncased").counts() if row.key == "scaling-law"]
        [84934656]
        """
        from weighbridge.conventions.counts import counts

        return counts(self, lang)

    def reconcile(self, number: str | int, lang: str = "en", *, every: bool = False) -> Reconciliation:
        """Find the conventions in which this model has *number* parameters.

        Args:
            number: An int, or text such as ``109,482,240``, ``110M``, ``1.1亿``.
            lang: The language of the words.
            every: List all conventions that a rounded number can mean, not the simplest alone.

        >>> model("bert-base-uncased").reconcile(108808704).matches[0].convention
        'BertModel without linear biases and pooler'
        """
        from weighbridge.conventions.reconcile import reconcile

        return reconcile(self, number, lang, every=every)

    def flops(
        self,
        batch: int = 1,
        seq: int | None = None,
        decoder_seq: int | None = None,
        encoder_seq: int | None = None,
        images: int | None = None,
        patches: tuple[int, int] | None = None,
        audios: int | None = None,
        question: int | None = None,
    ) -> Flops:
        """Count the arithmetic of one pass.

        Args:
            batch: Examples.
            seq: Tokens per example; of the encoder, where there are both.
            decoder_seq, encoder_seq, images, patches, audios, question: Other inputs; see :class:`~weighbridge.accounts.inputs.Inputs`.

        Raises:
            UsageError: An invalid number, images for a model that takes none beside its text, or a model
                that was not made from a config.

        >>> model("bert-base-uncased").flops(batch=1, seq=128).forward_matmul
        22348431360
        """
        from weighbridge.accounts.accepted_inputs import usual_inputs
        from weighbridge.accounts.flops import flops_of

        given = usual_inputs(
            self,
            batch=batch,
            seq=seq,
            decoder_seq=decoder_seq,
            encoder_seq=encoder_seq,
            images=images,
            patches=patches,
            audios=audios,
            question=question,
        )
        return flops_of(self, given)

    def outputs(self, **inputs: Any) -> int:
        """Count the elements that convolutions and products of matrices output in one pass, which timm's tables call activations.

        It is an estimate where an implementation pads windows, cuts a sequence into chunks or scans a state space: what it adds is its own
        (``trust`` in the JSON of ``weigh flops`` says for which model types).

        Args:
            inputs: What :meth:`flops` takes.

        >>> model("vit-base-patch16-224").outputs(images=1)
        23895544
        """
        from weighbridge.accounts.accepted_inputs import usual_inputs
        from weighbridge.accounts.flops import outputs_of

        return outputs_of(self, usual_inputs(self, inputs))

    def arithmetic(self, convention: str, **inputs: Any) -> Arithmetic:
        """Count the arithmetic of one pass as a tool or a paper does.

        Args:
            convention: ``torch``, ``fvcore``, ``timm``, ``mmcv``, ``deepspeed``, ``calflops``, ``palm``, ``megatron``, ``torchtitan`` or ``6n``.
            inputs: What :meth:`flops` takes.

        >>> model("vit-base-patch16-224").arithmetic("fvcore", images=1).value
        17582740224
        """
        from weighbridge.accounts.accepted_inputs import usual_inputs
        from weighbridge.conventions.arithmetic import count_arithmetic

        return count_arithmetic(self, usual_inputs(self, inputs), convention)

    def reconcile_flops(self, number: str | int, **inputs: Any) -> FlopsReconciliation:
        """Find the conventions in which one pass costs *number*.

        Args:
            number: An int, or text such as ``17581972224`` or ``17.58G``.
            inputs: What :meth:`flops` takes.

        >>> model("vit-base-patch16-224").reconcile_flops(17581972224, images=1).matches[0].key
        'fvcore'
        """
        from weighbridge.accounts.accepted_inputs import usual_inputs
        from weighbridge.conventions.reconcile_flops import reconcile_flops

        return reconcile_flops(self, usual_inputs(self, inputs), number)

    def adapters(
        self, adapter: object, *, dtype: str = "float32", autocast: bool = True, resized: bool = False, quantization: str | None = None
    ) -> AdapterCount:
        """Count the model with an adapter of the PEFT library: trainable, total and saved elements, and saved bytes.

        Args:
            adapter: An ``adapter_config.json``, a directory with one, its content as a mapping, or text such as
                ``lora:r=8,target_modules=q_proj+v_proj``.
            dtype: The element type that the base model is loaded in.
            autocast: Whether the adapter is kept in float32 beside a base in 16 bits, as the library does by itself.
            resized: Whether the vocabulary of the base was resized, so that its embeddings are saved too.
            quantization: The scheme that packs the base's matrices: without *autocast* the type of an adapter depends on it.

        Raises:
            ConfigError: The adapter's config is wrong.
            UsageError: The method cannot adapt these modules, or nothing of the model is adapted.

        >>> model("bert-base-uncased").adapters("lora:r=8").trainable
        294912
        """
        from weighbridge.accounts.adapters.source import adapters_of

        return adapters_of(self, adapter, dtype=dtype, autocast=autocast, resized=resized, quantization=quantization)

    def adapter_costs(
        self,
        adapter: object,
        *,
        dtype: str = "float32",
        autocast: bool = True,
        quantization: str | None = None,
        optimizer: str = "adamw",
        batch: int = 1,
        seq: int = 128,
    ) -> AdapterCosts:
        """Add up what the model takes with an adapter: bytes without activations (a packed base makes it QLoRA), FLOPs of a forward.

        Args:
            adapter, dtype, autocast: As for :meth:`adapters`.
            quantization: The scheme that packs the base's matrices, such as ``bnb-4bit-double``.
            optimizer: Whose states are kept, for the trained parameters only.
            batch, seq: Examples, and tokens of each.

        Raises:
            ConfigError: The adapter's config is wrong.
            UsageError: A word that is not known, or nothing of the model is adapted.

        >>> model("bert-base-uncased").adapter_costs("lora:r=8").gradients
        1179648
        """
        from weighbridge.accounts.adapters.costs import costs_of
        from weighbridge.accounts.adapters.source import adapter_config, adapters_of
        from weighbridge.accounts.inputs import Inputs

        config = adapter_config(adapter)
        found = adapters_of(self, config, dtype=dtype, autocast=autocast, quantization=quantization)
        given = Inputs(batch=batch, seq=seq)
        return costs_of(self, config, found, given, dtype=dtype, quantization=quantization, optimizer=optimizer)

    def cache(
        self, batch: int = 1, seq: int | None = None, decoder_seq: int | None = None, dtype: str = "bfloat16", engine: str = "reference"
    ) -> CacheSize:
        """Add up what the model keeps between tokens: keys and values, compressed or in windows, and states.

        Args:
            batch: Examples.
            seq: Tokens of the prompt; of the encoder, where there are both. By default 4,096, or as many as the model has positions for.
            decoder_seq: Tokens of the decoder, where there are both; by default *seq*. Where there is no decoder beside an encoder it
                changes nothing, which ``idle`` of the answer says.
            dtype: The type of keys and values.
            engine: Whose rules: ``reference``, ``llama.cpp``, ``vllm``, ``sglang``.

        Raises:
            UsageError: An invalid number or an unknown word, only tensors, or a cache that is not described.

        >>> model("llama-3.2-1b").cache(seq=1024).bytes
        33554432
        """
        from weighbridge.accounts.accepted_inputs import usual_lengths
        from weighbridge.accounts.cache import SEQ, cache_of
        from weighbridge.accounts.inputs import inputs

        if seq is None:
            seq, decoder_seq = usual_lengths(self, SEQ, decoder_seq)
        return cache_of(self, inputs(batch=batch, seq=seq, decoder_seq=decoder_seq), dtype, engine)

    def memory(
        self,
        training: bool = False,
        batch: int = 1,
        seq: int | None = None,
        decoder_seq: int | None = None,
        dtype: str | None = None,
        attention: str = "sdpa",
        dropout: bool | None = None,
        loss: bool = True,
        optimizer: str = "adamw",
        precision: str = "pure",
        quantization: str | None = None,
        checkpointing: str = "none",
        device: str = "cpu",
    ) -> Memory:
        """Add up the bytes of the model at work.

        Args:
            training: Whether it is trained: then gradients, optimizer states and activations are added to the weights.
            batch: Examples.
            seq: Tokens per example; of the encoder, where there are both. By default 128, or as many as the model has positions for.
            decoder_seq: Tokens of the decoder, where there are both; by default *seq*.
            dtype: The type of the weights; by default float32, or, unless it is trained, what its ``quantization_config`` says.
            attention: The attention kernel: ``eager``, ``sdpa``, ``flash``.
            dropout: Whether elements are dropped where the config says so; by default while it is trained.
            loss: Whether the loss is a part of the forward.
            optimizer: Such as ``adamw``, ``sgd``, ``adafactor``, ``adam8bit``, ``lion``, ``muon``.
            precision: How types are mixed: ``pure``, ``amp``, ``mixed``, ``megatron``.
            quantization: The scheme that packs the matrices of layers, such as ``bnb-4bit``.
            checkpointing: Which activations are computed again: ``none``, ``selective``, ``full``.
            device: Whose kernels run: ``cpu`` or ``cuda``.

        Raises:
            UsageError: An invalid number or an unknown word.

        >>> model("bert-base-uncased").memory(training=True, attention="eager", dropout=False, loss=False).activations
        85750784
        """
        from weighbridge.accounts.accepted_inputs import usual_lengths
        from weighbridge.accounts.inputs import Inputs, inputs, truth_value
        from weighbridge.accounts.memory.account import memory_of, settings_of

        training = truth_value(training or False, "training")
        if seq is None:
            seq, decoder_seq = usual_lengths(self, Inputs().seq, decoder_seq)
        how = settings_of(
            self,
            training,
            dtype=dtype,
            attention=attention,
            dropout=training if dropout is None else dropout,
            loss=loss,
            optimizer=optimizer,
            precision=precision,
            quantization=quantization,
            checkpointing=checkpointing,
            device=device,
        )
        return memory_of(self, inputs(batch=batch, seq=seq, decoder_seq=decoder_seq), how, training=training)

    def parallel(
        self,
        tp: int = 1,
        pp: int = 1,
        dp: int = 1,
        ep: int = 1,
        *,
        zero: int = 0,
        fsdp: bool = False,
        sequence_parallel: bool = False,
        micro_batches: int = 1,
        schedule: str = "1f1b",
        chunks: int = 1,
        dtype: str = "bfloat16",
        optimizer: str = "adamw",
        batch: int = 1,
        seq: int | None = None,
        attention: str = "sdpa",
        checkpointing: str = "none",
    ) -> Parallel:
        """Lay the model out on ``tp * pp * dp`` devices: bytes of each by class of state, communication, idle time.

        Args:
            tp, pp, dp, ep: Degrees of tensor, pipeline, data and expert parallelism.
            zero: Stage of ZeRO, 0 to 3.
            fsdp: Split every tensor along its first dimension, as FSDP2 does, in place of ZeRO.
            sequence_parallel: Split norms and dropout along the sequence among the tensor-parallel devices.
            micro_batches: How many of them a step has.
            schedule: ``1f1b``, ``interleaved`` or ``zero-bubble``.
            chunks: Pieces of the model on each stage, for ``interleaved``.
            dtype: Of parameters and gradients; 16 bits keep master weights in float32.
            optimizer: ``adamw``, ``adam``, ``momentum``, ``lion`` or ``sgd``.
            batch: Examples of one micro-batch.
            seq: Tokens of each, for activations, caches, and what layers and stages send.
            attention, checkpointing: How activations come about, as for :meth:`memory`.

        Raises:
            UsageError: The numbers do not go together, or do not divide the model's heads, layers or experts.

        >>> model("llama-3-8b").parallel(tp=8).largest.parameters
        2008031232
        """
        from weighbridge.accounts.parallel.account import parallel_of
        from weighbridge.accounts.parallel.layout import Layout

        layout = Layout(tp, pp, dp, ep, zero, fsdp, sequence_parallel, micro_batches, schedule, chunks, dtype, optimizer)
        return parallel_of(self, layout, batch, seq, attention=attention, checkpointing=checkpointing)

    def fits(
        self,
        device: str | None = None,
        *,
        gib: float | None = None,
        purpose: str = "serving",
        batch: int = 1,
        seq: int | None = None,
        dtype: str = "bfloat16",
        overhead: float = 1,
    ) -> Fit:
        """Tell whether the model fits a device: the largest batch, the longest context, what makes it fit, bounds of its speed.

        Args:
            device: An accelerator by its name, such as ``a100-80g``.
            gib: Memory in GiB, in place of a device.
            purpose: ``serving``, ``training`` or ``lora``.
            batch: Examples.
            seq: Tokens of each; by default 2,048, or as many as the model takes.
            dtype: Of the weights.
            overhead: GiB reserved for the engine.

        Raises:
            UsageError: An invalid number or an unknown word.

        >>> model("llama-3-8b").fits("rtx-4090").chosen.batch
        32
        """
        from weighbridge.accounts.fits.account import device_memory, fits_of

        found, memory, kept = device_memory(device, gib, overhead)
        return fits_of(self, memory, purpose, batch=batch, seq=seq, dtype=dtype, overhead=kept, device=found)

    def with_name(self, source: str) -> Model:
        """Return the same model under another name.

        >>> model({"model_type": "bert"}).with_name("mine").source
        'mine'
        """
        return self.replace(source=source)

    def to_pandas(self) -> Any:
        """Return the tensors as a pandas DataFrame (extra ``frames``)."""
        from weighbridge.documents.frames import pandas_frame

        return pandas_frame(self)

    def to_polars(self) -> Any:
        """Return the tensors as a polars DataFrame (extra ``frames``)."""
        from weighbridge.documents.frames import polars_frame

        return polars_frame(self)

    def plot(self) -> Any:
        """Draw the treemap as a matplotlib figure (extra ``charts``)."""
        from weighbridge.accounts.ledger import ledger
        from weighbridge.accounts.parameters import PARAMETERS
        from weighbridge.documents.document import Picture
        from weighbridge.documents.renderers.chart import figure

        return figure(Picture(ledger(self.tree, PARAMETERS)))

    def _repr_html_(self) -> str:
        """Show the counting table, which folds, with its treemap in a notebook."""
        from weighbridge.documents.notebook import notebook

        return notebook(self)

    def __repr__(self) -> str:
        return f"<Model {self.class_name or self.kind} {self.source}: {self.count().unique:,} parameters>"


def model(
    source: object,
    model_class: str | None = None,
    overrides: Mapping[str, Any] | None = None,
    *,
    via: str | None = None,
    trust_remote_code: bool = False,
) -> Model:
    """Load a model from any source.

    Args:
        source: A preset's name, the path of a config, a directory or a checkpoint, ``-`` for a config on
            standard input, a config as a mapping, or a live module.
        model_class: The class to count; by default what the config's ``architectures`` says, else the base class.
        overrides: Config fields to set; a dotted key reaches into a sub-config.
        via: ``transformers`` builds the class with that library on the meta device, in place of a blueprint.
        trust_remote_code: With *via*, run the source's own code.

    Raises:
        SourceError: Nothing has that name.
        ConfigError: The config is wrong; :class:`UnknownArchitecture` if no blueprint describes it.
        ReadError: The file is damaged.

    >>> model({"model_type": "bert", "num_hidden_layers": 24}).count().unique
    194536704
    """
    return _facade(load(source, model_class, overrides, via=via, trust_remote_code=trust_remote_code))


def _facade(value: ModelValue) -> Model:
    if isinstance(value, Model):
        return value
    return Model(**value.fields())
