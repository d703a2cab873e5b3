-- Call records in blocks: up to 128 calls of an organization, whose ids lie within ten seconds of each other. A full
-- block costs about as much as twelve rows did; block-insert.ts writes blocks, block-search.ts reads them. call-blocks-upgrade.ts moves
-- the records of the former table `call` here.
create table call_block (
  organization_id text not null,
  last_id text not null,
  first_id text not null,
  calls integer not null,
  -- How many of the calls have a status of 500 or above.
  failed integer not null,
  -- Whether the block is small and may still be merged with its neighbours (block-merge.ts).
  may_merge integer not null check (may_merge in (0, 1)),
  -- The row of call_block_rows.
  no integer not null,
  primary key (organization_id, last_id)
) strict, without rowid;
create index call_block_failed on call_block (organization_id, last_id, first_id, failed, no) where failed > 0;
create index call_block_small on call_block (organization_id, last_id, no, calls) where may_merge = 1;

-- The rows in binary; see block-format.ts.
create table call_block_rows (
  no integer primary key,
  rows blob not null
) strict;

-- The blocks with calls of a key, and how many of the key's calls each has.
create table call_block_key (
  organization_id text not null,
  key_id text not null,
  last_id text not null,
  first_id text not null,
  calls integer not null,
  no integer not null,
  primary key (organization_id, key_id, last_id)
) strict, without rowid;
