"""Test data for readers and writers of the format: hypothesis strategies and seeded samples.

`types.arrow_types`, `arrays.arrays` and `tables.tables` are hypothesis strategies;
`tables.random_sample` returns the same tables from a seed. They draw only what a file version can
store. The folder `noncanonical` needs no hypothesis.

`columns`, `conditions` and `texts` draw values and queries; `table_operations` are interrupted by
`faults`; `anatomy`, `mutations` and `faulty_messages` damage files and messages; `table_facts`
compare tables.
"""
