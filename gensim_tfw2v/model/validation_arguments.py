"""The arguments of validation and early stopping: one entry each."""

from __future__ import annotations

from gensim_tfw2v.arguments.argument import LEARNING_FLAGS, Argument, Flag
from gensim_tfw2v.arguments.rules import Choice, SentencesOrShare, Words
from gensim_tfw2v.training.early_stopping import LOSS, METRICS, EarlyStoppingRule

VALIDATION_ARGUMENTS: tuple[Argument, ...] = (
    Argument(
        "validation",
        None,
        "float, str, os.PathLike or iterable, optional",
        "Sentences on which `train()` measures a [loss](docs/how-to/stop.md) after each epoch: a share of the corpus's "
        "sentences, which the seed draws and training then leaves out, a corpus file, or an iterable. Also an argument "
        "of `train()`. It is not saved with the model",
        "none is measured",
        rule=SentencesOrShare(),
        flag=Flag(
            LEARNING_FLAGS,
            "SHARE|CORPUS",
            "share of the sentences to hold out, such as 0.01, or another corpus, on which a loss is measured after "
            "each epoch",
            default="none",
        ),
        is_saved=False,
    ),
    Argument(
        "validation_metric",
        LOSS,
        '{"loss", "hits@10", "ndcg@10"}',
        'What decides which epoch is the best: the loss, or for items `"hits@10"` or `"ndcg@10"`. These measure how '
        "often, and how high, the last item of a validation session is among the ten that the model expects "
        "([definition](docs/how-to/stop.md#items)). Also an argument of `train()`",
        rule=Choice(METRICS, or_none=False),
        flag=Flag(LEARNING_FLAGS, None, "what decides which epoch is the best"),
        is_fixed_in_training=True,
    ),
    Argument(
        "validation_every",
        None,
        "int or str, optional",
        'Words, such as 5e6 or `"5e6 words"`, after which `train()` [also measures within an '
        "epoch](docs/how-to/stop.md#within-an-epoch)",
        "only after each epoch",
        rule=Words(),
        flag=Flag(
            LEARNING_FLAGS,
            "WORDS",
            "measure on the validation sentences after so many words as well, such as 5e6",
            default="only after each epoch",
        ),
        is_saved=False,
    ),
    Argument(
        "early_stopping",
        None,
        "int or EarlyStopping, optional",
        "Number of epochs in a row without a better `validation_metric`, by default a lower loss, after which "
        "[training ends](docs/how-to/stop.md). An `EarlyStopping` also sets the smallest improvement. The model then "
        "has the vectors of the best epoch. Also an argument of `train()`. It is not saved with the model",
        "all epochs are trained",
        rule=EarlyStoppingRule(),
        flag=Flag(
            LEARNING_FLAGS,
            "N[,X]",
            "end training after N epochs in which validation does not improve, or not by more than X, and write the "
            "vectors of the best epoch",
            default="train all --epochs",
        ),
        is_saved=False,
    ),
)
