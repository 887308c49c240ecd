/* Proving that the rows of a database mean a sound cluster, for whoever copies or restores one. */
#ifndef ALLOTD_PROOF_H
#define ALLOTD_PROOF_H

#include "store/backup.h"

/* How records are printed and read; and the proof. Both may be used on any thread. */
extern const struct store_codec server_codec;
extern const struct store_proof server_proof;

#endif
