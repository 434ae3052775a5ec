#include "frame.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "the protocol is little-endian and is copied as it stands in memory");

int bytes_reserve(struct bytes *b, size_t more) {
  if (b->failed) return -1;
  if (b->room - b->size >= more) return 0;
  size_t room = b->room ? b->room : 256;
  while (room - b->size < more) room *= 2;
  uint8_t *data = realloc(b->data, room);
  if (!data) {
    b->failed = 1;
    return -1;
  }
  b->data = data;
  b->room = room;
  return 0;
}

void bytes_add(struct bytes *b, const void *data, size_t size) {
  if (size == 0 || bytes_reserve(b, size)) return;
  memcpy(b->data + b->size, data, size);
  b->size += size;
}

void bytes_drop(struct bytes *b, size_t size) {
  b->size -= size;
  if (b->size == 0) bytes_free(b);
  else if (size) memmove(b->data, b->data + size, b->size);
}

void bytes_free(struct bytes *b) {
  free(b->data);
  *b = (struct bytes){0};
}

size_t frame_begin(struct bytes *b, uint16_t type, uint32_t tag) {
  size_t at = b->size;
  struct frame_header h = {.type = type, .tag = tag};
  bytes_add(b, &h, sizeof h);
  return at;
}

// `size` is the first member of a frame header and the last of a field header; both ends write it back in place.
void frame_end(struct bytes *b, size_t at) {
  if (b->failed) return;
  uint32_t size = (uint32_t)(b->size - at - sizeof size);
  memcpy(b->data + at, &size, sizeof size);
}

size_t field_begin(struct bytes *b, uint16_t key) {
  size_t at = b->size;
  struct field_header h = {.key = key};
  bytes_add(b, &h, sizeof h);
  return at;
}

void field_end(struct bytes *b, size_t at) {
  if (b->failed) return;
  uint32_t size = (uint32_t)(b->size - at - sizeof(struct field_header));
  memcpy(b->data + at + offsetof(struct field_header, size), &size, sizeof size);
}

void frame_bytes(struct bytes *b, uint16_t key, const void *data, size_t size) {
  struct field_header h = {.key = key, .size = (uint32_t)size};
  bytes_add(b, &h, sizeof h);
  bytes_add(b, data, size);
}

void frame_number(struct bytes *b, uint16_t key, uint64_t value) { frame_bytes(b, key, &value, sizeof value); }

void frame_text(struct bytes *b, uint16_t key, const char *text) { frame_bytes(b, key, text, strlen(text)); }

long frame_parse(uint8_t *data, size_t have, size_t max, struct frame *out) {
  struct frame_header h;
  if (have < sizeof h.size) return 0;
  memcpy(&h.size, data, sizeof h.size);
  if (h.size < sizeof h - sizeof h.size || h.size > max - sizeof h.size) return -1;
  size_t whole = sizeof h.size + h.size;
  if (have < whole) return 0;
  memcpy(&h, data, sizeof h);
  *out =
      (struct frame){.type = h.type, .flags = h.flags, .tag = h.tag, .body = data + sizeof h, .size = whole - sizeof h};
  return (long)whole;
}

int field_next(const struct frame *f, size_t *at, struct field *out) {
  struct field_header h;
  size_t left = f->size - *at;
  if (left == 0) return 0;
  if (left < sizeof h) return -1;
  memcpy(&h, f->body + *at, sizeof h);
  if (h.size > left - sizeof h) return -1;
  *out = (struct field){.key = h.key, .size = h.size, .data = f->body + *at + sizeof h};
  *at += sizeof h + h.size;
  return 1;
}

int field_number(const struct field *f, uint64_t *out) {
  if (f->size != sizeof *out) return -1;
  memcpy(out, f->data, sizeof *out);
  return 0;
}
