"""Config against checkpoint: each way in which honest files differ is explained, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import weighbridge
import weighbridge.verification.verify
from tests.unit import safetensors_file
from tests.unit.bert import CONFIG, bert
from weighbridge.api.model import Model
from weighbridge.cli import main
from weighbridge.core.errors import SourceError, UsageError
from weighbridge.core.tree import Part, Tensor
from weighbridge.readers import Listing, StoredTensor
from weighbridge.verification.findings import Verification
from weighbridge.verification.verify import claims, verify

UNKNOWN = ", whose storage it shares in the class, or a tensor of its own: a header cannot tell"


KIMI = Path(__file__).parents[4] / "shared" / "configs" / "moonshotai--Kimi-K3_config.json"


def file(model: Model, names: str = "reference") -> list[StoredTensor]:
    """Return the file that the reference saves: every storage once."""
    return [stored_tensor(row.name, *ints(row.shape)) for row in model.tensors(names) if row.tied_to is None]


def ints(shape: tuple[object, ...]) -> tuple[int, ...]:
    return tuple(size for size in shape if isinstance(size, int))


def stored_tensor(name: str, *shape: int, tied_to: str | None = None) -> StoredTensor:
    return StoredTensor(name, "F32", shape, 0, tied_to=tied_to)


def verify_account(model: Model, tensors: list[StoredTensor], **metadata: object) -> Verification:
    """Verify, and hold the account: what is explained and what is not make up the difference."""
    found = verify(model, Listing("safetensors", tuple(tensors), metadata))
    findings = (*found.explained, *found.unexplained)
    assert found.found - found.expected == sum(finding.elements for finding in findings)
    assert found.residual == sum(abs(finding.elements) for finding in found.unexplained)
    return found


def reasons(found: Verification) -> set[tuple[str, str, int]]:
    return {(finding.name, finding.reason, finding.elements) for finding in found.explained}


def test_the_saved_file_matches_in_full() -> None:
    for name in ("BertModel", "BertForMaskedLM", "BertForPreTraining", "BertForQuestionAnswering"):
        model = bert(name)
        found = verify_account(model, file(model))
        assert found.holds
        assert found.explained == ()
        assert (found.matched_elements, found.residual) == (model.count().unique, 0)


def test_a_copy_of_a_tied_tensor_is_explained() -> None:
    model = bert("BertForMaskedLM")
    found = verify_account(
        model, [*file(model), stored_tensor("cls.predictions.decoder.weight", 100, 8), stored_tensor("cls.predictions.decoder.bias", 100)]
    )
    assert found.holds
    assert reasons(found) == {
        ("cls.predictions.decoder.weight", f"a copy of bert.embeddings.word_embeddings.weight{UNKNOWN}", 800),
        ("cls.predictions.decoder.bias", f"a copy of cls.predictions.bias{UNKNOWN}", 100),
    }


def test_a_tie_that_stands_for_its_owner() -> None:
    model = bert("BertForMaskedLM")
    owner = "bert.embeddings.word_embeddings.weight"
    tensors = [stored_tensor("cls.predictions.decoder.weight", 100, 8) if tensor.name == owner else tensor for tensor in file(model)]
    found = verify_account(model, tensors)
    assert found.holds
    assert reasons(found) == {("cls.predictions.decoder.weight", f"stands for {owner}, whose storage it shares in the class", 0)}


def test_a_storage_shared_in_the_file_only() -> None:
    model = bert("BertForMaskedLM", tie_word_embeddings=False)
    owner = "bert.embeddings.word_embeddings.weight"
    tensors = [
        stored_tensor("cls.predictions.decoder.weight", 100, 8, tied_to=owner)
        if tensor.name == "cls.predictions.decoder.weight"
        else tensor
        for tensor in file(model)
    ]
    assert reasons(verify_account(model, tensors)) == {
        ("cls.predictions.decoder.weight", f"shares the storage of {owner} in the file; the config has both", -800)
    }


@pytest.mark.parametrize("prefix", ["bert.", "module.", "module.bert."])
def test_prefixes_in_the_file(prefix: str) -> None:
    model = bert()
    assert verify_account(model, [tensor._replace(name=prefix + tensor.name) for tensor in file(model)]).matched == len(file(model))


def test_a_prefix_in_the_class() -> None:
    model = bert("BertForSequenceClassification")
    found = verify_account(model, [tensor._replace(name=tensor.name.removeprefix("bert.")) for tensor in file(model)])
    assert found.holds
    assert found.explained == ()


def test_gamma_and_beta() -> None:
    model = bert()
    tensors = [
        tensor._replace(name=tensor.name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"))
        for tensor in file(model)
    ]
    assert verify_account(model, tensors).matched == len(tensors)


@pytest.mark.parametrize(("prefix", "table"), [("", "embedding"), ("bert.tf_bert_model.bert.", "embeddings"), ("bert.", "weight")])
def test_the_endings_of_flax_and_keras(prefix: str, table: str) -> None:
    model = bert()
    tensors = []
    for row in model.tensors():
        parent, _, last = row.name.rpartition(".")
        shape = ints(row.shape)
        if row.role == "embedding":
            last = table
        elif last == "weight" and len(shape) == 2:
            last, shape = "kernel", shape[::-1]
        elif last == "weight":
            last = "scale" if table == "embedding" else "gamma"
        elif row.role == "shift" and table != "embedding":
            last = "beta"
        tensors.append(stored_tensor(f"{prefix}{parent}.{last}", *shape))
    found = verify_account(model, tensors)
    assert found.holds
    assert found.matched == len(tensors)


def test_the_names_of_googles_release() -> None:
    model = bert("BertForPreTraining")
    found = verify_account(model, file(model, "tensorflow"))
    assert found.holds
    assert found.explained == ()


def test_buffers() -> None:
    model = bert()
    found = verify_account(model, [*file(model), StoredTensor("embeddings.position_ids", "I64", (1, 512), 4096)])
    assert found.holds
    assert reasons(found) == {("embeddings.position_ids", "a buffer: saved, not learned", 512)}


def test_scales_of_packed_weights_keep_their_note() -> None:
    model = bert()
    scale = StoredTensor("pooler.dense.scales", "F16", (1, 8), 16, role="buffer", note="scale of packed weights")
    assert reasons(verify_account(model, [*file(model), scale])) == {("pooler.dense.scales", "scale of packed weights", 8)}


def test_tensors_of_another_class_of_the_family() -> None:
    """The published bert-base-uncased: its config says BertForMaskedLM, its file holds the pre-training tensors."""
    model = bert("BertForMaskedLM")
    found = verify_account(model, file(bert("BertForPreTraining")))
    assert found.holds
    assert reasons(found) == {
        ("bert.pooler.dense.weight", "of BertForPreTraining, not of BertForMaskedLM", 64),
        ("bert.pooler.dense.bias", "of BertForPreTraining, not of BertForMaskedLM", 8),
        ("cls.seq_relationship.weight", "of BertForPreTraining, not of BertForMaskedLM", 16),
        ("cls.seq_relationship.bias", "of BertForPreTraining, not of BertForMaskedLM", 2),
    }


def test_a_head_that_the_file_has_not_yet() -> None:
    found = verify_account(bert("BertForSequenceClassification"), file(bert()))
    assert found.holds
    assert reasons(found) == {
        ("classifier.weight", "not in the file, which is a BertModel", -16),
        ("classifier.bias", "not in the file, which is a BertModel", -2),
    }


def test_a_padded_vocabulary() -> None:
    model = bert(vocab_size=97)
    found = verify_account(model, file(bert(vocab_size=104)))
    assert found.holds
    assert reasons(found) == {
        ("embeddings.word_embeddings.weight", "padded vocabulary: 104 rows in the file, 97 in the config", 56),
    }
    assert not verify_account(model, file(bert(vocab_size=103))).holds, "103 rows are no padding"
    assert not verify_account(model, file(bert(vocab_size=96))).holds, "fewer rows are no padding"


def test_the_files_of_kimi_k3_fill_a_number_for_each_head_up() -> None:
    linear = {"num_heads": 6, "head_dim": 8, "short_conv_kernel_size": 4, "kda_layers": [1], "full_attn_layers": [2]}
    text = {"linear_attn_config": linear, "num_hidden_layers": 2, "hidden_size": 16, "vocab_size": 64, "intermediate_size": 24}
    published = json.loads(KIMI.read_text()) if KIMI.exists() else pytest.skip("the published configs do not lie beside the repository")
    model = weighbridge.model({**published, "text_config": {**published["text_config"], **text}, "quantization_config": None})
    wider = [tensor._replace(shape=(8,)) if tensor.name.endswith(".A_log") else tensor for tensor in file(model)]
    found = verify_account(model, wider)
    assert found.holds
    filled = {reason: count for name, reason, count in reasons(found) if name.endswith(".A_log")}
    assert filled == {"filled up to the head dimension: 8 entries in the file, 6 heads in the config": 2}
    longer = [tensor._replace(shape=(9,)) if tensor.name.endswith(".A_log") else tensor for tensor in file(model)]
    assert not verify_account(model, longer).holds


def test_a_transposed_matrix() -> None:
    model = bert()
    name = "encoder.layer.0.intermediate.dense.weight"
    tensors = [tensor._replace(shape=tensor.shape[::-1]) if tensor.name == name else tensor for tensor in file(model)]
    assert reasons(verify_account(model, tensors)) == {(name, "transposed in the file", 0)}


def test_fused_query_key_value() -> None:
    model = bert()
    tensors = []
    for tensor in file(model):
        if ".self.query." in tensor.name:
            tensors.append(tensor._replace(name=tensor.name.replace("query", "qkv"), shape=(3 * tensor.shape[0], *tensor.shape[1:])))
        elif ".self.key." not in tensor.name and ".self.value." not in tensor.name:
            tensors.append(tensor)
    found = verify_account(model, tensors)
    assert found.holds
    assert found.matched == len(file(model))
    assert ("encoder.layer.0.attention.self.qkv.bias", 0) in {(finding.name, finding.elements) for finding in found.explained}
    short = [
        tensor._replace(shape=(8, *tensor.shape[1:])) if tensor.name.endswith("1.attention.self.qkv.weight") else tensor
        for tensor in tensors
    ]
    assert verify_account(model, short).residual == 64 + 3 * 64


def test_a_missing_layer_is_not_explained() -> None:
    model = bert()
    found = verify_account(model, [tensor for tensor in file(model) if "layer.1." not in tensor.name])
    assert not found.holds
    assert {finding.reason for finding in found.unexplained} == {"not in the file"}
    assert found.residual == (model.count().unique - bert(num_hidden_layers=1).count().unique)


def test_a_further_layer_is_not_explained() -> None:
    found = verify_account(bert(), file(bert(num_hidden_layers=3)))
    assert {finding.reason for finding in found.unexplained} == {"not in the config's class"}
    assert found.residual > 0


def test_another_shape_is_not_explained_even_of_as_many_elements() -> None:
    model = bert()
    tensors = [tensor._replace(shape=(25, 32)) if "word_embeddings" in tensor.name else tensor for tensor in file(model)]
    found = verify_account(model, tensors)
    assert [tuple(finding[:3]) for finding in found.unexplained] == [
        ("embeddings.word_embeddings.weight", "has shape [25, 32] where the config gives [100, 8]", 800),
        ("embeddings.word_embeddings.weight", "should have shape [100, 8]", -800),
    ]
    assert found.residual == 1600


def test_claims_of_the_file() -> None:
    model = bert()
    unique = model.count().unique
    found = verify_account(model, file(model), total_size=0, total_parameters=unique)
    assert [(claim.name, claim.holds) for claim in found.claims] == [("total_size", True), ("total_parameters", True)]
    assert found.holds
    found = verify_account(model, file(model), total_parameters=333)
    assert [tuple(claim) for claim in found.claims] == [("total_parameters", 333, unique, False)]
    assert not found.holds


def experts(described: Part) -> Model:
    """Return a model with a config of its own tree, for layouts that no preset has."""
    model = bert()
    return Model("test", "config", described, class_name="Test", description=model.description)


def test_experts_that_are_split_in_the_file() -> None:
    block = Part("mlp", (Part("experts", (Tensor("gate_up_proj", (4, 6, 8)), Tensor("down_proj", (4, 8, 3)))),))
    model = experts(Part("", (Part("model", (Part("layers", (block,), repeat=2),)),)))
    names = {"w1": (3, 8), "w3": (3, 8), "w2": (8, 3)}
    tensors = [
        stored_tensor(f"model.layers.{n}.mlp.experts.{e}.{name}.weight", *shape)
        for n in (0, 1)
        for e in range(4)
        for name, shape in names.items()
    ]
    found = verify_account(model, tensors)
    assert found.holds
    assert reasons(found) == {
        (f"model.layers.{n}.mlp.experts.{name}", f"split over {count} tensors in the file", 0)
        for n in (0, 1)
        for name, count in (("gate_up_proj", 8), ("down_proj", 4))
    }
    assert not verify_account(model, tensors[1:]).holds


def test_layers_for_multi_token_prediction() -> None:
    tree = Part("", (Part("model", (Part("layers", (Part("mlp", (Tensor("weight", (8, 8)),)),), repeat=3),)),))
    tensors = [stored_tensor(f"model.layers.{n}.mlp.weight", 8, 8) for n in range(4)]
    assert verify_account(experts(tree), tensors).residual == 64
    model = experts(tree)
    assert model.description is not None
    model = model.replace(description=model.description._replace(raw={"num_nextn_predict_layers": 1}))
    found = verify_account(model, tensors)
    assert reasons(found) == {("model.layers.3.mlp.weight", "a multi-token-prediction layer, which the class leaves out", 64)}


def write(path: Path, tensors: list[StoredTensor]) -> None:
    safetensors_file.write(path, {tensor.name: tensor.shape for tensor in tensors})


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "model.safetensors", file(bert()))
    with pytest.raises(SourceError, match=r"no config\.json beside the weights; name one"):
        weighbridge.verification.verify.verify_checkpoint(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    assert main(["verify", str(tmp_path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["residual"], answer["matched"], answer["unexplained"], answer["class"]) == (0, len(file(bert())), [], "BertModel")
    assert main(["verify", str(tmp_path / "model.safetensors"), str(tmp_path), "--set", "num_hidden_layers=1"]) == 1
    text = capsys.readouterr().out
    assert "encoder.layer.*.attention" in text or "encoder.layer.1" in text
    assert main(["verify", str(tmp_path / "none")]) == 2


def test_a_file_is_no_config(tmp_path: Path) -> None:
    write(tmp_path / "model.safetensors", file(bert()))
    with pytest.raises(UsageError, match="verify needs a config"):
        weighbridge.verification.verify.verify_checkpoint(tmp_path, tmp_path / "model.safetensors")


def test_a_class_tells_parameters_from_the_buffers_that_a_name_does_not_tell() -> None:
    """A frozen batch norm's gain is a buffer: an index that counts parameters leaves it out."""
    file = Listing("safetensors", (StoredTensor("bn1.weight", "F32", (2,), 8), StoredTensor("fc.weight", "F32", (3, 2), 24)))
    file = file._replace(metadata={"total_parameters": 6})
    assert [claim.holds for claim in (*claims(file), *claims(file, 6), *claims(file, 7))] == [False, True, False]
