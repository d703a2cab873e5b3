-- Call records in one partition a day, by the time that their ids begin with. What is there already, and what belongs to a
-- day without a partition, is in the partition for all others; nothing is copied.
alter table call rename to call_other;
alter index call_pkey rename to call_other_pkey;
alter index call_key rename to call_other_key;
create table call (like call_other, primary key (organization_id, id)) partition by range (id);
create index call_key on call (organization_id, key_id, id);
alter table call attach partition call_other default;
