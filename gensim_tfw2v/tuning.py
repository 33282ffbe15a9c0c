"""Every number that was chosen by measuring; `docs/contributing/decisions.md` has the figures behind it.

Numbers that a format, a protocol or gensim prescribes stay where they are used.
"""

from __future__ import annotations

# -- corpora and evaluation (docs/contributing/decisions.md, "Reading corpora") ----------------------------------------

FILE_PART_BYTES = 2 << 20  # size of the parts of a text file that reading processes tokenise in turn
USUAL_COMPRESSION = 3  # bytes of text for each byte of a compressed file
MOST_DECOMPRESSING_READERS = 4  # each decompresses the whole file, so more of them gain little
SMALL_FILE_PARTS = 4  # a file of this few parts is read before a second process has started
TOKENIZER_PIECE_BYTES = 1 << 16  # pieces of a part: the arrays made from a piece fit the processor's cache
TOKENIZER_TABLE_BITS = 18  # a tokenizer looks up words in a table of 2^18 places
TOKENIZER_WORDS = 500_000  # with more words, a tokenizer starts a new numbering: its memory stays bounded
ITERABLE_WORDS, ITERABLE_PIECES = 50_000, 50_000  # words, and (possibly empty) pieces, whose ids are looked up at once
# The beginning of a pass over an iterable, in pieces and words, that shows whether passes differ. It is read in
# milliseconds, and shuffled or drawn sentences differ within the first few.
COMPARED_PIECES, COMPARED_WORDS = 100, 10_000
MOST_TABLE_NUMBERS = 2**24  # whole numbers as words have their ids in a table if they are smaller: 64 MB
SHARD_WORDS = 2**26  # of an encoded corpus: a quarter of a gigabyte
SECTION_BYTES = 2**27  # of text that a process encodes at a time: a lost process costs little, as do the words of many
# Words of sections, equal ones in different sections counted apart, that are merged at a time.
LEAST_BUCKET_WORDS, MOST_BUCKET_WORDS = 2**16, 2**22
# The validation loss after an epoch is the mean of at most so many pairs, from sentences of about so many words, and
# reads about so many rows, which takes a fraction of a second.
VALIDATION_PAIRS, VALIDATION_WORDS, VALIDATION_ROWS = 2**16, 2**18, 2**20
VALIDATION_NEXT_WORDS, VALIDATION_SCORES = 2**12, 2**27  # words to predict, at most, and scores that rank them
LEAST_NUMBERS_FOR_IMPORT_AHEAD = 2**25  # TensorFlow is imported while NumPy draws so many numbers, half a second's work
SIMILARITIES_AT_ONCE = 2**24  # similarities that answer analogies: 64 MB of float32

# -- batches and runs (docs/contributing/decisions.md, "Sizes") --------------------------------------------------------

MOST_TOUCHES = 32.0  # expected occurrences of the most frequent word in a batch
WORDS_PER_BATCH_TOKEN = 16  # small vocabularies come with small corpora, which need many small steps
CBOW_TOKENS_PER_ROOT_OF_WORDS = 11.0  # batch tokens per cube root of the vocabulary: CBOW needs fewer steps
# In a flat vocabulary, all words occur about equally often, and often. Text has 20 and more words per effective word,
# walks on graphs 1 to 5. The effective words are as many as would share tokens as often if all were equally frequent.
MOST_WORDS_PER_EFFECTIVE_WORD = 8.0
LEAST_FREQUENT_COUNT = 200  # mean occurrences of a word in an epoch
FLAT_TOKENS_PER_WORD = 1 / 2  # batch tokens per effective word: half of them share their word with another one
MOST_BATCH_TOKENS = 1024
# Of skip-gram with negatives where the device that trains also draws: starting a batch takes long there.
MOST_DEVICE_BATCH_TOKENS = 8192
# Of skip-gram with negatives, on all cores together: a batch does not see what others learn meanwhile.
MOST_TOKENS_SIDE_BY_SIDE = 8192
# Of batches for which workers and servers exchange messages: in all that are under way, and for each word of a small
# vocabulary. A batch costs them some milliseconds, whatever its size.
MOST_EXCHANGED_TOKENS = 16384
WORDS_PER_EXCHANGED_TOKEN = 4
MOST_BATCH_NUMBERS = 1 << 18  # numbers in a batch's vectors: the copies that a step makes of them fit the cache
LEAST_BATCH_TOKENS = 64
LEAST_RATES = 256  # learning rates of an epoch, where a batch has only its rate
# Every target of a batch passes the root of the Huffman tree, so an epoch must take at least this many steps. Skip-gram
# has a target for every pair, CBOW one for every token.
SKIP_GRAM_TREE_BATCHES, CBOW_TREE_BATCHES = 4000, 2000
SKIP_GRAM_TREE_TOKENS_PER_ROOT, CBOW_TREE_TOKENS_PER_ROOT = 0.6, 4.0  # batch tokens per cube root of tokens
LEAST_SKIP_GRAM_TREE_TOKENS, LEAST_CBOW_TREE_TOKENS = 8, 16
USUAL_NEGATIVE = 5  # draws for each pair
SMALL_VOCABULARY = 10_000  # words; smaller corpora train in seconds and can afford more negatives
MOST_RUN_TOKENS = 512
# A run that moves its rows at once is expected to have at most so many tokens of the most frequent word: all of them
# take their steps from the same version of its row.
MOST_TOUCHES_OF_RUN, LEAST_RUN_TOKENS = 3.0, 8
REGISTER_NUMBERS = 16  # float32: oneDNN's small products take a third longer when columns do not fill registers
RARE_HIT_SHARE = 2e-3  # share of accidental hits among negatives below which masking them changes nothing

# Least tokens of a run, and negatives for each of them. Longer runs move fewer rows and do more arithmetic.
SKIP_GRAM_RUN = (32, 11 / 16)
CBOW_RUN = (32, 1 / 2)
# Adagrad's first steps are long, and a run's few negatives push its words all the same way. More of them differ less
# from run to run.
ADAGRAD_SKIP_GRAM_RUN = (32, 19 / 16)
ADAGRAD_CBOW_RUN = (32, 1)
# Skip-gram with both objectives draws its windows: longer runs are faster there and score a little less.
SKIP_GRAM_RUN_BESIDE_TREE = (16, 11 / 8)
# The longer the vectors, the more their rows cost compared with the arithmetic of pairs.
LONG_VECTOR = 300  # numbers
LONG_VECTOR_RUN_IN_TILES = (64, 11 / 32)
SMALL_SKIP_GRAM_RUN = (16, 3)
SMALL_CBOW_RUN = (16, 2)
SMALL_CBOW_RUN_OF_FEW_NEGATIVES = (32, 1)  # where words occur often, in flat vocabularies or in wide windows
# All tokens of a run take their steps from the same version of their document's vector.
DOCUMENT_RUN_TOKENS = 16
# The same where contexts are concatenated and trained with negatives, and its negatives for each token.
CONCATENATED_RUN = (4, 3)
# Without negatives, a run shares only contexts. Threads wait less for each other's writes of nodes in long runs, but
# text of a small vocabulary learns more from short ones. CBOW scores lower if the runs of all cores have more tokens
# together than the last number.
SMALL_SKIP_GRAM_TREE_RUN_TOKENS, SKIP_GRAM_TREE_RUN_TOKENS = 8, 64
CBOW_TREE_RUN_TOKENS, LONG_CBOW_TREE_RUN_TOKENS = 64, 256
CBOW_TREE_TOKENS_SIDE_BY_SIDE = 1024

# -- the Huffman tree (docs/contributing/decisions.md, "Maths of a batch") ---------------------------------------------

LEAST_WORDS_FOR_RANDOM_TIES = 25_000  # in smaller vocabularies a random order of equal counts scores no higher

# -- steps (docs/contributing/decisions.md, "Maths of a batch") --------------------------------------------------------

# Longest step of a row, in learning rates; the second number is for skip-gram with hierarchical softmax alone.
MAX_STEP_RATES, TREE_MAX_STEP_RATES = 20.0, 4.0
# Smaller batches lose more by converting numbers to bfloat16 than their products gain, unless vectors are longer.
LEAST_TOKENS_FOR_BFLOAT16, USUAL_VECTOR_SIZE = 512, 100
# The loss of some batches is a good estimate of the mean. Large batches come with large corpora, which have enough.
LOSS_EVERY_BATCHES, LOSS_EVERY_LARGE_BATCHES = 16, 64
LEAST_TOKENS_FOR_RARE_LOSS = 512
LEAST_WINDOW_FOR_RUNNING_SUMS = 6  # of CBOW; narrower windows are as fast or faster without, and keep their vectors
# With Adagrad, steps of a row whose state is 0 are FACTOR / sqrt(START) times as long as with SGD. They are as long as
# with SGD once START and the state come to FACTOR². `operations/adagrad.h` has the same numbers.
ADAGRAD_FACTOR, ADAGRAD_START = 200.0, 100.0
MOST_CBOW_ALPHA_FOR_ADAGRAD = 0.05  # with higher rates, CBOW scores as high or higher with SGD
EPOCHS_FOR_SGD = 20  # with as many, words score as high or higher with SGD
DBOW_EPOCHS_FOR_SGD = 40  # the same for distributed bags of words; distributed memory scores higher with Adagrad
LEAST_WORDS_FOR_SGD = 5_000_000  # of all these epochs together; with fewer, Adagrad still scores higher
WORDS_THAT_SAY_WHAT_THEY_ARE = 10_000  # text, or ids of nodes and items, which SGD trains
LEAST_TOKENS_FOR_SPARE_THREAD = 256  # on small corpora one more thread's stale gradients cost quality

# -- blocks (docs/contributing/decisions.md, "Sizes") ------------------------------------------------------------------

LEAST_BLOCK_WORDS, MOST_BLOCK_WORDS = 10_000, 131_072
MOST_LOCAL_BLOCK_WORDS, MOST_LOCAL_TREE_BLOCK_WORDS = 65_536, 32_768  # larger ones take memory and gain little speed
# From this many cores of one process on, so many train a block together: Python's lock limits more threads.
LEAST_CORES_FOR_SHARED_BLOCKS, CORES_OF_SHARED_BLOCK = 16, 4
BLOCKS_PER_WORKER = 4  # least blocks of an epoch: workers finish an epoch together
# Raw words of all epochs from which a GPU's start, of some seconds, is short beside plain steps on a CPU.
LEAST_WORDS_FOR_GPU = 10_000_000
# Where the device that trains draws: raw words of a block, and bytes of chunks that stay on the device between epochs.
MOST_DRAWN_BLOCK_WORDS, MOST_KEPT_CHUNK_BYTES = 2**20, 2**31
MOST_EPOCHS_AT_ONCE = 2  # epochs that workers train, or that the caller has not finished with

# -- averaging (docs/contributing/decisions.md, "Cluster") -------------------------------------------------------------

# Words of a round: this share of an epoch, within these limits for each worker.
SKIP_GRAM_ROUND_SHARE, CBOW_ROUND_SHARE = 1 / 4, 1 / 8  # CBOW scores lower with longer rounds
LEAST_ROUND_PART_WORDS, MOST_ROUND_PART_WORDS = 8_192, 262_144
# Words that all workers train between two averages of shared rows: this share of an epoch, within these limits.
STEP_SHARE, LEAST_STEP_WORDS, MOST_STEP_WORDS = 1 / 16, 131_072, 524_288
AVERAGED_NUMBERS_AT_ONCE = 2**24  # numbers of a table
AVERAGED_SHARED_ROWS = 2048  # of each table; 512 score lower, unless all rows are averaged twice as often
FIRST_ROUND_WORDS = 131_072  # words of the first rounds, in which everything that random vectors teach is learnt

# -- parameter servers (docs/contributing/decisions.md, "Cluster") -----------------------------------------------------

# Words that are trained at a time without seeing each other's changes: this share of an epoch, within these limits.
IN_FLIGHT_SHARE, LEAST_IN_FLIGHT_WORDS, MOST_IN_FLIGHT_WORDS = 1 / 64, 131_072, 262_144
# Where blocks are corrected for each other's changes, there is no upper limit. Skip-gram with negative sampling then
# has a larger share.
SKIP_GRAM_IN_FLIGHT_SHARE = 1 / 32
MOST_WORKER_BLOCK_WORDS = 2**20  # of a worker, whose blocks may be larger than its cores need
# Synchronous rounds divide these limits by this number: their workers share no rows before the end of a round.
ROUNDS_IN_FLIGHT = 2
# Rounds that any number of threads or workers trains equally: at most so many parts, of at least so many words, and at
# least so many rounds an epoch. More parts keep more threads busy, and each learns without the others.
REPRODUCIBLE_PARTS, LEAST_REPRODUCIBLE_PART_WORDS, REPRODUCIBLE_ROUNDS = 8, 16_384, 16
BLOCKS_FOR_OVERLAP = 256  # blocks of an epoch for each worker
# A call of a worker trains as many blocks of an encoded corpus as have so many raw words for each of its cores, if each
# worker then still has so many calls in an epoch. It has at most so many blocks: a block has costs that no core shares.
CALL_WORDS, LEAST_CALLS, MOST_CALL_BLOCKS = 2**22, 256, 512
# A block's negatives come from a pool of draws: one draw for this many words. Small blocks learn badly from a smaller
# pool.
WORDS_PER_POOL_DRAW, LEAST_POOL_DRAWS = 5, 8192
# Finished blocks, after each of which one more block may be in flight, where blocks are corrected for each other's
# changes: all that are in flight have about half as many words as were trained before.
BLOCKS_FOR_ONE_MORE = 2
# Elsewhere, number of parts of the training. One more block may be in flight after each: sixteen after a fortieth of
# the training. A longer ramp-up scores a little better; one eight times as long leaves 11.2 times the speed of one
# worker instead of 15.
RAMP_UP_PARTS = 600
LEAST_BLOCKS_PER_RAMP_UP_PART, LEAST_WORDS_PER_RAMP_UP_PART = 8, 65_536  # whichever is less
# Slopes of the sigmoid for rows of inputs, outputs and nodes, found by loss and scores of 16 workers. Nodes divide
# words into halves, so the sigmoid is steepest there, also for the inputs that are trained against nodes.
SLOPES, TREE_INPUT_SLOPE = (0.11, 0.08, 0.2), 0.25
# Hot rows of a table, and more if all blocks in flight have more tokens; other rows move too little to overshoot.
MOST_HOT_ROWS, HOT_ROWS_PER_TOKEN = 3072, 1 / 128
# Probe rows: this many first hot rows, and one of this many next ones, up to this number of hot rows.
ALL_PROBE_ROWS, EVERY_PROBE_ROW, MOST_PROBED_ROWS = 512, 4, 3072
# Blocks that are pushed between the moment when a block reads rows again and its push, of all others in flight.
UNSEEN_SHARE = 1 / 16
DIRECTIONS = 24  # directions with a scale of their own; all other directions share one
POWER_ITERATIONS = 2  # iterations that find these directions
NOTABLE_CHANGE = 0.02  # change of a table's mean square after which directions are computed anew
NEGLIGIBLE_EXPONENT = 1e-4  # below it, concurrent blocks are as good as blocks one after the other

# -- L-BFGS ------------------------------------------------------------------------------------------------------------

PORTIONS_PER_WORKER = 16  # portions of an evaluation: workers finish together, and a lost portion costs little
LEAST_PORTION_WORDS = 4096  # a portion costs milliseconds in addition to its words
LBFGS_HISTORY = 10  # pairs of steps and changes of the gradient

# -- searches of settings ----------------------------------------------------------------------------------------------

SHARE_OF_SESSIONS, LEAST_SESSIONS = 0.1, 10_000  # that a search for items trains, whichever is more

# -- indexes of vectors -----------------------------------------------------------------------------------------------

# HNSW graphs. With these numbers at least 0.95 of the nearest ten are found, also among rare words of a small corpus,
# whose vectors are nearly equal (tests/integrations/test_neighbour_index.py). With 128 candidates 0.91 were.
INDEX_NEIGHBOURS = 32  # of a node
INDEX_BUILD_CANDIDATES = 200  # nodes that are looked at while a node is added
INDEX_SEARCH_CANDIDATES = 512
