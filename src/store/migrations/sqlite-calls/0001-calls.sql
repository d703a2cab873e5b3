-- Call records by organization and time-ordered id, which is the order of every list. Kept apart from the rest: they may be
-- written with less ceremony.
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
-- Calls that an upstream failed: people look for them, and they are few. An index of addresses would double what it costs to
-- insert a record, since each record would change a page of its own.
create index call_failed on call (organization_id, id) where status >= 500;

-- Calls counted towards a quota of a key or target; the period is its first moment.
create table quota_use (
  organization_id text not null,
  subject_id text not null,
  period_at integer not null,
  calls integer not null,
  -- What processes claimed before they let calls pass: never more than the quota.
  claimed integer not null default 0,
  granted integer not null default 0,
  primary key (organization_id, subject_id, period_at)
) strict;

-- How often a rule decided, and how often a rule on trial would have refused; per day.
create table rule_day (
  organization_id text not null,
  rule_id text not null,
  day_at integer not null,
  decided integer not null,
  would_refuse integer not null,
  primary key (organization_id, rule_id, day_at)
) strict;

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

-- Which part of a rate each process may spend, in millionths; the row without a node says when what nobody holds is whole.
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

-- Processes that share rates; the shares of one whose time is over are everybody's again.
create table rate_node (
  node_id text not null primary key,
  until integer not null
) strict, without rowid;

-- Where the pages of an index walk ended, so that its next page begins there whoever was deleted meanwhile. Here, so that
-- reading a page waits for no disk: after a loss of power a walk goes on by its numbers.
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
