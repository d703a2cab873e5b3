-- Call records by organization and time-ordered id, which is the order of every list. There is one
-- partition per day, by the time at the start of an id; call_other has the records of days without a partition.
create table call (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  at bigint not null,
  key_id text collate "C" not null,
  target_id text collate "C",
  method text collate "C" not null,
  path text collate "C" not null,
  status bigint not null,
  refusal text collate "C",
  stopped_at text collate "C",
  rule_id text collate "C",
  trial_rule_id text collate "C",
  bytes_in bigint not null,
  bytes_out bigint not null,
  duration_us bigint not null,
  upstream_us bigint,
  address text collate "C" not null,
  agent text collate "C",
  capture text collate "C",
  primary key (organization_id, id)
) partition by range (id);
create index call_key on call (organization_id, key_id, id);
-- People look for the calls of one address and for those with a status of 500 or above, and they are few.
create index call_address on call (organization_id, address, id);
create index call_failed on call (organization_id, id) where status >= 500;
create table call_other partition of call default;

-- Calls counted towards the quota of a key or target; period_at is the start of the quota's period.
create table quota_use (
  organization_id text collate "C" not null,
  subject_id text collate "C" not null,
  period_at bigint not null,
  calls bigint not null,
  -- The calls that all nodes claimed before they let any pass; never more than the quota.
  claimed bigint not null default 0,
  granted bigint not null default 0,
  primary key (organization_id, subject_id, period_at)
);

-- How often each rule decided per day, and how often a rule on trial would have refused.
create table rule_day (
  organization_id text collate "C" not null,
  rule_id text collate "C" not null,
  day_at bigint not null,
  decided bigint not null,
  would_refuse bigint not null,
  primary key (organization_id, rule_id, day_at)
);

-- Counts per minute, for charts. stopped_at is '' for calls that no check refused.
create table call_minute (
  organization_id text collate "C" not null,
  minute bigint not null,
  target_id text collate "C" not null,
  stopped_at text collate "C" not null,
  calls bigint not null,
  errors bigint not null,
  bytes_in bigint not null,
  bytes_out bigint not null,
  duration_us bigint not null,
  primary key (organization_id, minute, target_id, stopped_at)
);
create index call_minute_minute on call_minute (minute);

-- The share of a rate that each node may spend, in millionths. The row with an empty node_id is the unclaimed share:
-- whole_at says when it is full again.
create table rate_share (
  subject_id text collate "C" not null,
  node_id text collate "C" not null,
  organization_id text collate "C" not null,
  share bigint not null,
  whole_at bigint not null,
  demand double precision not null,
  short bigint not null check (short in (0, 1)),
  changed_at bigint not null,
  primary key (subject_id, node_id)
);
create index rate_share_changed on rate_share (changed_at);

-- Nodes that share rates. After `until`, a node's shares are free for the others.
create table rate_node (
  node_id text collate "C" not null primary key,
  until bigint not null
);
