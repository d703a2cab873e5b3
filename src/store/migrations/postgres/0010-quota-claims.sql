-- Nodes claim calls of a quota before they let them pass: what is claimed never exceeds the quota, over all nodes.
alter table quota_use add column claimed bigint not null default 0;
alter table quota_use add column granted bigint not null default 0;
update quota_use set claimed = calls;
