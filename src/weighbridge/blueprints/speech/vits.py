"""VITS: speech from text by a variational autoencoder with normalizing flows and HiFi-GAN's generator.

Source: Kim et al. 2021, arXiv 2106.06103; names as in transformers 5.23.0, models/vits/modeling_vits.py. ``seq`` counts characters; how
many frames each is spoken, the model draws at random.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.stage_fields import equal_length
from weighbridge.blueprints.speech.hifigan import conv1d_same, fields, generator
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, LAYERS, VOCAB, Config, Field, computed, derived, size, switch
from weighbridge.core.length import length, unknown
from weighbridge.core.parts import attend, embedding, layer_norm, linear, matmul, part, replace
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Every, Node, Part, Tensor

FIELDS = (
    VOCAB.with_default(38),
    HIDDEN.with_default(192),
    LAYERS.with_default(6),
    HEADS.with_default(2),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    Field("window", "window_size", 4, "choice"),
    computed("relative", lambda c: bool(c.window)),
    switch("bias", "use_bias", True),
    size("mlp", "ffn_dim", 768, "I", "intermediate size"),
    size("mlp_kernel", "ffn_kernel_size", 3, "K_ffn", "kernel size of the feed-forward convolutions"),
    size("flow", "flow_size", 192, "F", "channels of a frame"),
    size("bins", "spectrogram_bins", 513, "M", "frequency bins of the spectrogram"),
    switch("stochastic", "use_stochastic_duration_prediction", True),
    Field("speakers", "num_speakers", 1, "choice"),
    size("voice", "speaker_embedding_size", 0, "E", "width of a speaker vector", minimum=0),
    computed("voiced", lambda c: c.voice != 0),
    *fields((8, 8, 2, 2), (16, 16, 4, 4)),
    computed("steps", lambda c: equal_length(upsample_kernel_sizes=c.kernels, upsample_rates=c.rates)),
    size("halves", "depth_separable_channels", 2, "C_dur", "channels of a duration"),
    size("separable", "depth_separable_num_layers", 3, "L_sep", "separable convolutions in a row"),
    size("spline", "duration_predictor_flow_bins", 10, "B_dur", "pieces of a spline"),
    size("duration_kernel", "duration_predictor_kernel_size", 3, "K_dur", "kernel size of the duration predictor's convolutions"),
    size("duration_flows", "duration_predictor_num_flows", 4, "N_dur", "flows of the duration predictor"),
    size("duration_width", "duration_predictor_filter_channels", 256, "W_dur", "channels of the deterministic duration predictor"),
    size("flows", "prior_encoder_num_flows", 4, "N_flo", "flows per frame"),
    size("flow_layers", "prior_encoder_num_wavenet_layers", 4, "L_flo", "layers of a flow's WaveNet"),
    size("posterior_layers", "posterior_encoder_num_wavenet_layers", 16, "L_pos", "layers of the posterior encoder's WaveNet"),
    size("wavenet_kernel", "wavenet_kernel_size", 5, "K_wav", "kernel size of a WaveNet's convolutions"),
)
DRAWN = unknown("how many frames the speech has is drawn by chance from the predicted durations")


def attention(c: Config) -> Part:
    """Describe attention in which distances up to a window have keys and values of their own."""
    H, around = c.hidden, length("seq") * 2 - 1
    tables: tuple[Node, ...] = ()
    products: tuple[Node, ...] = ()
    if c.relative:
        tables = tuple(Tensor(f"emb_rel_{which}", (1, 2 * c.window + 1, c.head_dim), "embedding") for which in "kv")
        products = (matmul("distances", (2, c.heads, "seq", around, c.head_dim)),)
    maps = (linear(name, H, H, bias=c.bias) for name in ("k_proj", "v_proj", "q_proj", "out_proj"))
    return part("attention", *tables, *maps, attend(heads=c.heads, head_dim=c.head_dim), *products, kind="self_attention")


def text_encoder(c: Config) -> Part:
    """Describe the text encoder, whose feed-forward networks are convolutions, and a map to mean and variance of each frame."""
    H = c.hidden
    convs = conv1d_same("conv_1", H, c.mlp, c.mlp_kernel), conv1d_same("conv_2", c.mlp, H, c.mlp_kernel)
    layer = part(
        "layers",
        attention(c),
        layer_norm("layer_norm", H),
        part("feed_forward", *convs, kind="feed_forward"),
        layer_norm("final_layer_norm", H),
        kind="layer",
        repeat=c.layers,
    )
    body = embedding("embed_tokens", c.vocab, H), part("encoder", layer, kind="encoder"), conv1d_same("project", H, 2 * c.flow, 1)
    return part("text_encoder", *body, kind="encoder", stream="seq")


def normed_conv(name: str, inputs: Size, outputs: Size, kernel: Size, *, repeat: Size | None = None, at: Every | None = None) -> Part:
    """Describe a convolution whose weight is split into length and direction."""
    split = Tensor("original0", (outputs, 1, 1), "gain"), Tensor("original1", (outputs, inputs, kernel), "weight")
    weight = part("parametrizations", part("weight", *split, kind="weight_norm"), kind="weight_norm")
    return part(name, Tensor("bias", (outputs,), "bias"), weight, kind="convolution", repeat=repeat, indices=at)


def wavenet(c: Config, layers: Size) -> Part:
    """Describe gated dilated convolutions, each with a way around and a way out; the last has the way out alone."""
    H = c.hidden
    voice = (normed_conv("cond_layer", c.voice, 2 * H * layers, 1),) if c.voiced else ()
    return part(
        "wavenet",
        normed_conv("in_layers", H, 2 * H, c.wavenet_kernel, repeat=layers),
        normed_conv("res_skip_layers", H, 2 * H, 1, repeat=layers - 1),
        normed_conv("res_skip_layers", H, H, 1, repeat=1, at=Every(layers - 1)),
        *voice,
        kind="convolutions",
    )


def flow(c: Config) -> Part:
    """Describe the flows, each of which shifts one half of a frame by what a WaveNet says of the other."""
    half = c.flow // 2
    layers = conv1d_same("conv_pre", half, c.hidden, 1), wavenet(c, c.flow_layers), conv1d_same("conv_post", c.hidden, half, 1)
    return part("flow", part("flows", *layers, kind="layer", repeat=c.flows), kind="decoder")


def separable(c: Config, name: str) -> Part:
    """Describe convolutions of each channel with itself, pointwise ones, and a norm after each."""
    H, L = c.hidden, c.separable
    depthwise = Tensor("weight", (H, 1, c.duration_kernel), "weight"), Tensor("bias", (H,), "bias")
    return part(
        name,
        part("convs_dilated", *depthwise, kind="convolution", repeat=L),
        replace(conv1d_same("convs_pointwise", H, H, 1), repeat=L),
        layer_norm("norms_1", H, repeat=L),
        layer_norm("norms_2", H, repeat=L),
        kind="convolutions",
    )


def duration_flows(c: Config, name: str) -> tuple[Part, Part]:
    """Describe an affine flow, and flows along splines."""
    half, H = c.halves // 2, c.hidden
    affine = Tensor("translate", (c.halves, 1), "shift"), Tensor("log_scale", (c.halves, 1), "gain")
    convs = (
        conv1d_same("conv_pre", half, H, 1),
        separable(c, "conv_dds"),
        conv1d_same("conv_proj", H, half * (3 * c.spline - 1), 1),
    )
    return (
        part(name, *affine, kind="scale", repeat=1),
        part(name, *convs, kind="convolutions", repeat=c.duration_flows, indices=Every(1)),
    )


def durations(c: Config) -> Part:
    """Describe what says how long each character is spoken: flows from random noise, or two convolutions."""
    H, W = c.hidden, c.duration_width
    voice = (conv1d_same("cond", c.voice, H, 1),) if c.voiced else ()
    if not c.stochastic:
        convs = (
            conv1d_same("conv_1", H, W, c.duration_kernel),
            layer_norm("norm_1", W),
            conv1d_same("conv_2", W, W, c.duration_kernel),
            layer_norm("norm_2", W),
            conv1d_same("proj", W, 1, 1),
        )
        return part("duration_predictor", *convs, *voice, kind="decoder")
    return part(
        "duration_predictor",
        conv1d_same("conv_pre", H, H, 1),
        conv1d_same("conv_proj", H, H, 1),
        separable(c, "conv_dds"),
        *voice,
        *duration_flows(c, "flows"),
        conv1d_same("post_conv_pre", 1, H, 1),
        conv1d_same("post_conv_proj", H, H, 1),
        separable(c, "post_conv_dds"),
        *duration_flows(c, "post_flows"),
        kind="decoder",
    )


def vits(c: Config) -> Part:
    """Describe VitsModel; the posterior encoder, which reads spectrograms, is used in training only."""
    H = c.hidden
    voice = (conv1d_same("cond", c.voice, c.wide, 1),) if c.voiced else ()
    speakers = (embedding("embed_speaker", c.speakers, c.voice),) if c.speakers > 1 else ()
    posterior = conv1d_same("conv_pre", c.bins, H, 1), wavenet(c, c.posterior_layers), conv1d_same("conv_proj", H, 2 * c.flow, 1)
    return part(
        "",
        text_encoder(c),
        flow(c),
        part("decoder", *generator(c, c.flow, DRAWN, bias=False), *voice, kind="decoder"),
        durations(c),
        *speakers,
        part("posterior_encoder", *posterior, kind="encoder", requires="labels"),
        kind="model",
        stream=DRAWN,
    )


IGNORED_KEYS = frozenset(
    """duration_predictor_dropout duration_predictor_tail_bound leaky_relu_slope noise_scale noise_scale_duration sampling_rate
    speaking_rate wavenet_dilation_rate wavenet_dropout""".split()
)
FAMILIES = {"vits": Family("vits", FIELDS, {"VitsModel": vits}, "VitsModel", IGNORED_KEYS)}
