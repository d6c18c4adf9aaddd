module docket

go 1.26
