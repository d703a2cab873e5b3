-- Call records by organization and time-ordered id, which is the order of every list. In a database of
-- their own, whose commits need not wait for the disk.
create table call (
  organization_id text not null,
  id text not null,
  at integer not null,
  key_id text not null,
  target_id text,
  method text not null,
  path text not null,
  status integer not null,
  refusal text,
  stopped_at text,
  rule_id text,
  trial_rule_id text,
  bytes_in integer not null,
  bytes_out integer not null,
  duration_us integer not null,
  upstream_us integer,
  address text not null,
  agent text,
  capture text,
  primary key (organization_id, id)
) strict, without rowid;
create index call_key on call (organization_id, key_id, id);
-- Calls with a status of 500 or above: people look for them, and they are few. There is no index by address: each
-- record would change another page of it, which would double the cost of an insert.
create index call_failed on call (organization_id, id) where status >= 500;

-- Calls counted towards the quota of a key or target; period_at is the start of the quota's period.
create table quota_use (
  organization_id text not null,
  subject_id text not null,
  period_at integer not null,
  calls integer not null,
  -- The calls that processes claimed before they let any pass; never more than the quota.
  claimed integer not null default 0,
  granted integer not null default 0,
  primary key (organization_id, subject_id, period_at)
) strict;

-- How often each rule decided per day, and how often a rule on trial would have refused.
create table rule_day (
  organization_id text not null,
  rule_id text not null,
  day_at integer not null,
  decided integer not null,
  would_refuse integer not null,
  primary key (organization_id, rule_id, day_at)
) strict;

-- Counts per minute, for charts. stopped_at is '' for calls that no check refused.
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

-- The share of a rate that each process may spend, in millionths. The row with an empty node_id is the unclaimed share:
-- whole_at says when it is full again.
create table rate_share (
  subject_id text not null,
  node_id text not null,
  organization_id text not null,
  share integer not null,
  whole_at integer not null,
  demand real not null,
  short integer not null check (short in (0, 1)),
  changed_at integer not null,
  primary key (subject_id, node_id)
) strict, without rowid;
create index rate_share_changed on rate_share (changed_at);

-- Processes that share rates. After `until`, a process's shares are free for the others.
create table rate_node (
  node_id text not null primary key,
  until integer not null
) strict, without rowid;

-- Where the last page of a SCIM list by index ended, so that the next page begins there even if users were deleted
-- meanwhile. In this database, because a commit here does not wait for the disk; after a loss of power, such a list goes
-- on by its index alone.
create table directory_walk (
  token_id text not null,
  query_digest text not null,
  next_index integer not null,
  next_place text not null,
  previous_index integer,
  previous_place text,
  at integer not null,
  primary key (token_id, query_digest)
) strict, without rowid;
