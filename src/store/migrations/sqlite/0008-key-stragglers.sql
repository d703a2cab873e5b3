-- Who still calls with the old secret of a rotation: one row a caller, at most so many a secret.
create table key_straggler (
  digest text not null references key_secret (digest),
  address text not null,
  agent text not null,
  organization_id text not null,
  key_id text not null,
  target_id text,
  calls integer not null,
  first_seen_at integer not null,
  last_seen_at integer not null,
  primary key (digest, address, agent)
) strict;
create index key_straggler_key on key_straggler (key_id);
create index key_straggler_seen on key_straggler (last_seen_at);
