-- Kept beside the call records now.
drop table directory_walk;
