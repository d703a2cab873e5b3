-- Who still calls with the old secret of a rotation: one row a caller, at most so many a secret.
create table key_straggler (
  digest text collate "C" not null references key_secret (digest),
  address text collate "C" not null,
  agent text collate "C" not null,
  organization_id text collate "C" not null,
  key_id text collate "C" not null,
  target_id text collate "C",
  calls bigint not null,
  first_seen_at bigint not null,
  last_seen_at bigint not null,
  primary key (digest, address, agent)
);
create index key_straggler_key on key_straggler (key_id);
create index key_straggler_seen on key_straggler (last_seen_at);
