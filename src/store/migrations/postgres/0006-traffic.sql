-- Call records by organization and time-ordered id: the order of every list, so that one more index is enough.
drop table call;
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
);
create index call_key on call (organization_id, key_id, id);

-- Calls counted towards a quota of a key or target; the period is its first moment.
create table quota_use (
  organization_id text collate "C" not null,
  subject_id text collate "C" not null,
  period_at bigint not null,
  calls bigint not null,
  primary key (organization_id, subject_id, period_at)
);

-- How often a rule decided, and how often a rule on trial would have refused; per day.
create table rule_day (
  organization_id text collate "C" not null,
  rule_id text collate "C" not null,
  day_at bigint not null,
  decided bigint not null,
  would_refuse bigint not null,
  primary key (organization_id, rule_id, day_at)
);
