/* MurmurHash3 (Austin Appleby, public domain), byte by byte. */
typedef struct {
    uint32_t word, tail, length;
} ouzel_hash;

static inline uint32_t ouzel_scramble(uint32_t part) {
    part *= 0xCC9E2D51u;
    part = (part << 15) | (part >> 17);
    return part * 0x1B873593u;
}

static inline void ouzel_hash_text(ouzel_hash *hash, const char *text) {
    for (; *text; text++) {
        hash->tail |= (uint32_t)(unsigned char)*text << (8 * (hash->length & 3u));
        hash->length++;
        if (!(hash->length & 3u)) {
            hash->word ^= ouzel_scramble(hash->tail);
            hash->word = ((hash->word << 13) | (hash->word >> 19)) * 5u + 0xE6546B64u;
            hash->tail = 0;
        }
    }
}

static inline uint32_t ouzel_hashed(const ouzel_hash *hash) {
    uint32_t word = (hash->word ^ ouzel_scramble(hash->tail)) ^ hash->length;
    word = (word ^ (word >> 16)) * 0x85EBCA6Bu;
    word = (word ^ (word >> 13)) * 0xC2B2AE35u;
    return (word ^ (word >> 16)) & OUZEL_MASK;
}

/* The id of a word of a text that has no column: of its UTF-8 bytes. */
static inline uint32_t ouzel_text_id(const char *word) {
    ouzel_hash hash = {OUZEL_SEED, 0, 0};
    ouzel_hash_text(&hash, word);
    return ouzel_hashed(&hash);
}

/* The id of a name, such as "column" of a number, whose value is the number; a name written in digits is its own id. */
static inline uint32_t ouzel_id(const char *name) {
    uint64_t number = 0;
    int digits = 0;
    while (number < 0xFFFFFFFFu && name[digits] >= '0' && name[digits] <= '9') {
        number = number * 10u + (uint64_t)(name[digits++] - '0');
    }
    return digits && !name[digits] && number < 0xFFFFFFFFu ? (uint32_t)number : ouzel_text_id(name);
}

/* The id of "column=word", whose value is 1. */
static inline uint32_t ouzel_word_id(const char *column, const char *word) {
    ouzel_hash hash = {OUZEL_SEED, 0, 0};
    ouzel_hash_text(&hash, column);
    ouzel_hash_text(&hash, "=");
    ouzel_hash_text(&hash, word);
    return ouzel_hashed(&hash);
}
