-- One row a call of an identified key. Kept apart from the rest: it may be written with less ceremony.
create table call (
  id text primary key,
  at integer not null,
  organization_id text not null,
  key_id text not null,
  target_id text,
  method text not null,
  path text not null,
  status integer not null,
  refusal text,
  stopped_at text,
  rule_id text,
  bytes_in integer not null,
  bytes_out integer not null,
  duration_us integer not null,
  upstream_us integer,
  address text not null,
  agent text,
  capture text
) strict;
create index call_at on call (at);
create index call_organization on call (organization_id, at, id);
create index call_key on call (organization_id, key_id, at, id);

-- Counts per minute, for charts; stopped_at '' is an answered call.
create table call_minute (
  organization_id text not null,
  minute integer not null,
  target_id text not null,
  stopped_at text not null,
  calls integer not null,
  errors integer not null,
  bytes_in integer not null,
  bytes_out integer not null,
  duration_us integer not null,
  primary key (organization_id, minute, target_id, stopped_at)
) strict;
create index call_minute_minute on call_minute (minute);
