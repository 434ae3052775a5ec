// frame.h: build and parse the frames of protocol.h. Everything that arrives is hostile until it was parsed here.
//
// Building: `struct bytes` grows as needed and belongs to the caller, who frees it with bytes_free. When memory runs
// out it sets `failed` and takes nothing more; check once at the end. Frames and nested fields are opened and ended by
// position:
//     size_t at = frame_begin(&out, FRAME_OK, tag);
//     frame_number(&out, FIELD_SIZE, 7);
//     frame_end(&out, at);
// Parsing never copies: a `struct frame` and its fields point into the bytes that were given.
#ifndef DROVER_FRAME_H
#define DROVER_FRAME_H

#include "../protocol.h"

struct bytes {
  uint8_t *data;
  size_t size, room;
  int failed;
};
int bytes_reserve(struct bytes *b, size_t more); // room for `more` bytes behind `size`; 0, or -1
void bytes_add(struct bytes *b, const void *data, size_t size);
void bytes_drop(struct bytes *b, size_t size); // forget that many at the front; empty buffers give their memory back
void bytes_free(struct bytes *b);

size_t frame_begin(struct bytes *b, uint16_t type, uint32_t tag);
void frame_end(struct bytes *b, size_t at);
size_t field_begin(struct bytes *b, uint16_t key); // a field that holds fields
void field_end(struct bytes *b, size_t at);
void frame_number(struct bytes *b, uint16_t key, uint64_t value);
void frame_bytes(struct bytes *b, uint16_t key, const void *data, size_t size);
void frame_text(struct bytes *b, uint16_t key, const char *text);

struct frame {
  uint16_t type, flags;
  uint32_t tag;
  uint8_t *body;
  size_t size;
};
struct field {
  uint16_t key;
  uint32_t size;
  uint8_t *data;
};

// The frame at the start of `data`: its whole size, 0 when more bytes are needed, -1 when it is no frame or larger than
// `max`.
long frame_parse(uint8_t *data, size_t have, size_t max, struct frame *out);

// Walk a body: *at begins at 0. 1 with a field, 0 at the end, -1 when the body is malformed.
int field_next(const struct frame *f, size_t *at, struct field *out);

// 0 with the number, -1 when the field is not one.
int field_number(const struct field *f, uint64_t *out);

#endif
