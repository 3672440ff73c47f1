# Policies of the core: decisions that one row of the benchmarks asked for. Each is one source,
# src/core/<room>/policy/<name>.cpp or .hpp, and an option that leaves it out; so are its tests,
# tests/core/policy/<name>_test.cpp. What each of them brings is in docs/design/policies.md.
include(CMakeDependentOption)

set(braid_policies_without)    # their names
set(braid_policy_definitions)  # for the library's sources, and for tests that reach into them

# braid_policy(name about [OTHER]): with the OTHER policy only.
function(braid_policy name about)
    string(TOUPPER ${name} NAME)
    if(ARGC GREATER 2)
        cmake_dependent_option(BRAID_POLICY_${NAME} "${about}" ON BRAID_POLICY_${ARGV2} OFF)
    else()
        option(BRAID_POLICY_${NAME} "${about}" ON)
    endif()
    if(NOT BRAID_POLICY_${NAME})
        set(braid_policies_without ${braid_policies_without} ${name} PARENT_SCOPE)
        set(braid_policy_definitions ${braid_policy_definitions} BRAID_POLICY_${NAME}=0 PARENT_SCOPE)
    endif()
endfunction()

# braid_leave_policies_out(LIST): what belongs to a policy that is off goes out of the list of files.
macro(braid_leave_policies_out list)
    foreach(braid_policy IN LISTS braid_policies_without)
        list(FILTER ${list} EXCLUDE REGEX "/policy/${braid_policy}(_test)?\\.cpp$")
    endforeach()
endmacro()

braid_policy(steals_pay "A thread leaves tasks to their owner that are smaller than a steal costs")
braid_policy(unclaimed "A task that its owner does not come to is stolen although steals do not pay"
    STEALS_PAY)
braid_policy(keep_apart "A thread wakes on another core than the one that wakes it")
braid_policy(expect_work "Workers are awake when the work comes that scheduler::expect_work() announces")
braid_policy(watch "A wait watches for a while what runs elsewhere before it sleeps")
braid_policy(short_gaps "A thread looks longer for work while the last gaps were short")
braid_policy(seldom_clock "Of tasks that take no time only every eighth is timed")
