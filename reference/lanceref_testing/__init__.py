"""Test data for readers and writers of the format: hypothesis strategies and seeded samples.

`types.arrow_types`, `arrays.arrays` and `tables.tables` are hypothesis strategies;
`tables.random_sample` gives the same tables from a seed. Everything a file version cannot store is
left out. The encoders of this package need no hypothesis.

`columns`, `conditions` and `texts` draw values with what is asked of them; `table_operations` are
to be interrupted; `anatomy`, `mutations` and `faulty_messages` damage files and messages;
`table_facts` tell tables apart.
"""
