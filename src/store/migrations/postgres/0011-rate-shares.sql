-- Which part of a rate each node may spend, in millionths; the row without a node says when what nobody holds is whole.
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

-- Nodes that share rates; the shares of one whose time is over are everybody's again.
create table rate_node (
  node_id text collate "C" not null primary key,
  until bigint not null
);
