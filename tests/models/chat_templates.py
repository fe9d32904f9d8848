"""Chat templates of public checkpoints, as far as text goes."""

LLAMA_2 = (
    "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}"
    "{% set system_message = messages[0]['content'] %}{% else %}{% set loop_messages = messages %}"
    "{% set system_message = false %}{% endif %}{% for message in loop_messages %}"
    "{% if loop.index0 == 0 and system_message != false %}"
    "{% set content = '<<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' + message['content'] %}"
    "{% else %}{% set content = message['content'] %}{% endif %}{% if message['role'] == 'user' %}"
    "{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}{% elif message['role'] == 'assistant' %}"
    "{{ ' ' + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}"
)
LLAMA_3 = (
    "{{- bos_token }}{%- if not date_string is defined %}{%- if strftime_now is defined %}"
    "{%- set date_string = strftime_now('%d %b %Y') %}{%- else %}{%- set date_string = '26 Jul 2024' %}{%- endif %}"
    "{%- endif %}{{- '<|start_header_id|>system<|end_header_id|>\\n\\nToday Date: ' + date_string }}"
    "{{- '\\n\\n<|eot_id|>' }}"
    "{%- for message in messages %}{{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' +"
    " message['content'] | trim + '<|eot_id|>' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif %}"
)
GEMMA_2 = (
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}"
    "{% endif %}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}"
    "{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}"
    "{% endif %}{{ '<start_of_turn>' + role + '\\n' + message['content'] | trim + '<end_of_turn>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{'<start_of_turn>model\\n'}}{% endif %}"
)
QWEN_3 = (
    "{%- for message in messages %}{%- if message.role == 'assistant' and loop.last %}"
    "{{- '<|im_start|>assistant\\n<think>\\n\\n</think>\\n\\n' + message.content + '<|im_end|>\\n' }}{%- else %}"
    "{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}"
    "{%- if enable_thinking is defined and enable_thinking is false %}"
    "{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}"
    "{%- endif %}"
)
QWEN_3_THINKING = (
    "{%- for message in messages %}{%- if message.role == 'assistant' %}"
    "{{- '<|im_start|>assistant\\n<think>\\n\\n</think>\\n\\n' + message.content + '<|im_end|>\\n' }}{%- else %}"
    "{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n<think>\\n' }}{%- endif %}"
)
DEEPSEEK_R1 = (
    "{% for message in messages %}{% if message['role'] == 'user' %}{{ '<｜User｜>' + message['content'] }}"
    "{% elif message['role'] == 'system' %}{{ message['content'] }}{% else %}{% set content = message['content'] %}"
    "{% if '</think>' in content %}{% set content = content.split('</think>')[-1] %}{% endif %}"
    "{{ '<｜Assistant｜>' + content + '<｜end▁of▁sentence｜>' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<｜Assistant｜><think>\\n' }}{% endif %}"
)
SMOLLM_3 = (
    "{%- if enable_thinking is not defined -%}{%- set enable_thinking = true -%}{%- endif -%}"
    "{%- for message in messages -%}{{ '<|im_start|>' + message.role + '\\n' }}"
    "{%- if message.role == 'assistant' and not enable_thinking %}{{ '<think>\\n\\n</think>\\n' }}{%- endif -%}"
    "{{ message.content + '<|im_end|>\\n' }}{%- endfor -%}"
    "{%- if add_generation_prompt -%}{%- if enable_thinking -%}{{ '<|im_start|>assistant\\n<think>' }}{%- else -%}"
    "{{ '<|im_start|>assistant\\n<think>\\n\\n</think>\\n' }}{%- endif -%}{%- endif -%}"
)
GPT_OSS = (
    "{%- for message in messages %}{%- if message.role == 'assistant' %}"
    "{{- '<|start|>assistant<|channel|>final<|message|>' + message.content }}"
    "{%- if loop.last and not add_generation_prompt %}{{- '<|return|>' }}{%- else %}{{- '<|end|>' }}{%- endif %}"
    "{%- else %}{{- '<|start|>' + message.role + '<|message|>' + message.content + '<|end|>' }}{%- endif %}"
    "{%- endfor %}{%- if add_generation_prompt %}{{- '<|start|>assistant' }}{%- endif %}"
)
VICUNA = (
    "{% for message in messages %}{% if message['role'] == 'user' %}{{ 'USER: ' + message['content'] + ' ' }}"
    "{% elif message['role'] == 'assistant' %}{{ 'ASSISTANT: ' + message['content'] + eos_token }}"
    "{% else %}{{ message['content'] + ' ' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'ASSISTANT:' }}{% endif %}"
)
MISTRAL_V3 = (  # the system's text stands before the last question
    "{%- if messages[0]['role'] == 'system' %}{%- set system_message = messages[0]['content'] %}"
    "{%- set loop_messages = messages[1:] %}{%- else %}{%- set loop_messages = messages %}{%- endif %}"
    "{{- bos_token }}{%- for message in loop_messages %}{%- if message['role'] == 'user' %}"
    "{%- if loop.last and system_message is defined %}"
    "{{- '[INST] ' + system_message + '\\n\\n' + message['content'] + '[/INST]' }}{%- else %}"
    "{{- '[INST] ' + message['content'] + '[/INST]' }}{%- endif %}"
    "{%- else %}{{- ' ' + message['content'] | trim + eos_token }}{%- endif %}{%- endfor %}"
)
SMOLLM_3_PUBLISHED = (  # opens no thought, and names one in its own system text
    "{%- if enable_thinking is not defined -%}{%- set enable_thinking = true -%}{%- endif -%}"
    "{%- if enable_thinking -%}{%- set reasoning_mode = '/think' -%}{%- else -%}"
    "{%- set reasoning_mode = '/no_think' -%}"
    "{%- endif -%}{{- '<|im_start|>system\\n' -}}{%- if messages[0].role == 'system' -%}"
    "{%- set system_message = messages[0].content -%}{%- if '/no_think' in system_message -%}"
    "{%- set reasoning_mode = '/no_think' -%}{%- elif '/think' in system_message -%}"
    "{%- set reasoning_mode = '/think' -%}"
    "{%- endif -%}"
    "{%- set custom_instructions = system_message.replace('/no_think', '').replace('/think', '').rstrip() -%}"
    "{%- endif -%}"
    "{{- 'Today Date: ' ~ strftime_now('%d %B %Y') ~ '\\nReasoning Mode: ' + reasoning_mode + '\\n\\n' -}}"
    "{%- if custom_instructions -%}{{- custom_instructions + '\\n\\n' -}}{%- elif reasoning_mode == '/think' -%}"
    "{{- 'Use the format: <think> Thought section </think> Solution section.\\n\\n' -}}{%- endif -%}"
    "{{- '<|im_end|>\\n' -}}{%- for message in messages -%}{%- if message.role == 'user' -%}"
    "{{ '<|im_start|>user\\n' + message.content + '<|im_end|>\\n' }}{%- elif message.role == 'assistant' -%}"
    "{% generation %}{%- if reasoning_mode == '/think' -%}"
    "{{ '<|im_start|>assistant\\n' + message.content.lstrip('\\n') + '<|im_end|>\\n' }}{%- else -%}"
    "{{ '<|im_start|>assistant\\n<think>\\n\\n</think>\\n' + message.content.lstrip('\\n') + '<|im_end|>\\n' }}"
    "{%- endif -%}{% endgeneration %}{%- endif -%}{%- endfor -%}{%- if add_generation_prompt -%}"
    "{%- if reasoning_mode == '/think' -%}{{ '<|im_start|>assistant\\n' }}{%- else -%}"
    "{{ '<|im_start|>assistant\\n<think>\\n\\n</think>\\n' }}{%- endif -%}{%- endif -%}"
)
PHI_4_REASONING = (
    "<|im_start|>system<|im_sep|>You are Phi. Use the format: <think> {Thought section} </think> {Solution section}."
    "<|im_end|>{% for message in messages %}{% if message['role'] == 'user' %}"
    "{{ '<|im_start|>user<|im_sep|>' + message['content'] + '<|im_end|>' }}{% elif message['role'] == 'assistant' %}"
    "{{ '<|im_start|>assistant<|im_sep|>' }}{% generation %}{{ message['content'] + '<|im_end|>' }}"
    "{% endgeneration %}"
    "{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant<|im_sep|>' }}{% endif %}"
)
GLM_4_5 = (  # ends no turn; the next one begins
    "[gMASK]<sop>{%- macro text(content) -%}{%- if content is string -%}{{- content }}{%- else -%}"
    "{%- for item in content -%}{{- item.text }}{%- endfor -%}{%- endif -%}{%- endmacro -%}"
    "{%- for m in messages %}{%- if m.role == 'user' -%}{{ '<|user|>\\n' + text(m.content) }}"
    "{{- '/nothink' if enable_thinking is defined and not enable_thinking else '' -}}"
    "{%- elif m.role == 'assistant' -%}"
    "{{ '<|assistant|>\\n<think></think>' }}{%- set content = text(m.content) %}{%- if '</think>' in content %}"
    "{%- set content = content.split('</think>')[-1] %}{%- endif %}{%- if content.strip() -%}"
    "{{ '\\n' + content.strip() }}{%- endif -%}{%- elif m.role == 'system' -%}{{ '<|system|>\\n' + text(m.content) }}"
    "{%- endif -%}{%- endfor -%}{%- if add_generation_prompt -%}<|assistant|>"
    "{{- '\\n<think></think>' if enable_thinking is defined and not enable_thinking else '' -}}{%- endif -%}"
)
NEMOTRON_NANO_2 = (  # /no_think in any message turns thoughts off
    "{%- set ns = namespace(thinking=true) -%}{%- for m in messages -%}{%- if m['role'] in ('user', 'system') -%}"
    "{%- if '/no_think' in m['content'] -%}{%- set ns.thinking = false -%}{%- elif '/think' in m['content'] -%}"
    "{%- set ns.thinking = true -%}{%- endif -%}{%- endif -%}{%- endfor -%}"
    "{{- '<SPECIAL_10>System\\n' }}{%- if messages[0]['role'] == 'system' -%}"
    "{{- messages[0]['content'].replace('/no_think', '').replace('/think', '').strip() }}{%- endif -%}"
    "{%- for m in messages -%}{%- if m['role'] == 'user' -%}"
    "{{- '\\n<SPECIAL_11>User\\n' + m['content'].replace('/no_think', '').replace('/think', '').strip() }}"
    "{%- elif m['role'] == 'assistant' -%}{%- set content = m['content'] -%}{%- if '</think>' in content -%}"
    "{%- set content = content.split('</think>')[1].strip() -%}{%- endif -%}"
    "{{- '\\n<SPECIAL_11>Assistant\\n' + content + '\\n<SPECIAL_12>' }}{%- endif -%}{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '\\n<SPECIAL_11>Assistant\\n' }}{%- if ns.thinking -%}{{- '<think>\\n' }}"
    "{%- else -%}{{- '<think></think>' }}{%- endif -%}{%- endif -%}"
)
COMMAND_A_REASONING = (
    "{{ bos_token }}<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|># System Preamble{% for message in messages %}"
    "{% if message.role == 'system' %}{{ '\\n' + message.content }}{% endif %}{% endfor %}<|END_OF_TURN_TOKEN|>"
    "{%- for message in messages %}{%- if message.role == 'user' -%}"
    "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>{{ message.content }}<|END_OF_TURN_TOKEN|>"
    "{%- elif message.role == 'assistant' -%}"
    "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>{%- if reasoning is defined and not reasoning -%}"
    "<|START_THINKING|><|END_THINKING|>{%- endif -%}<|START_RESPONSE|>{{ message.content }}<|END_RESPONSE|>"
    "<|END_OF_TURN_TOKEN|>{%- endif -%}{%- endfor -%}{%- if add_generation_prompt -%}"
    "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>{%- if reasoning is defined and not reasoning -%}"
    "<|START_THINKING|><|END_THINKING|>{%- else -%}<|START_THINKING|>{%- endif -%}{%- endif -%}"
)
GRANITE_3_3 = (
    "{%- if thinking is not defined %}{%- set thinking = false %}{%- endif %}"
    "{%- if messages[0]['role'] == 'system' %}{%- set system_message = messages[0]['content'] %}"
    '{%- set loop_messages = messages[1:] %}{%- else %}{%- set system_message = "Knowledge Cutoff Date: April 2024.\\n'
    "Today's Date: \" + strftime_now('%B %d, %Y') + '.\\nYou are Granite, developed by IBM.' %}{%- if thinking %}"
    "{%- set system_message = system_message + ' Write your thoughts between <think></think> and your response "
    "between <response></response>.' %}{%- endif %}{%- set loop_messages = messages %}{%- endif %}"
    "{{- '<|start_of_role|>system<|end_of_role|>' + system_message + '<|end_of_text|>\\n' }}"
    "{%- for message in loop_messages %}"
    "{{- '<|start_of_role|>' + message['role'] + '<|end_of_role|>' + message['content'] + '<|end_of_text|>\\n' }}"
    "{%- if loop.last and add_generation_prompt %}{{- '<|start_of_role|>assistant<|end_of_role|>' }}{%- endif %}"
    "{%- endfor %}"
)
EXAONE_DEEP = (
    "{% for message in messages %}{% if loop.first and message['role'] != 'system' %}"
    "{{ '[|system|][|endofturn|]\\n' }}{% endif %}{% set content = message['content'] %}"
    "{% if '</thought>' in content %}{% set content = content.split('</thought>')[-1].lstrip('\\n') %}{% endif %}"
    "{{ '[|' + message['role'] + '|]' + content }}{% if not message['role'] == 'user' %}"
    "{{ '[|endofturn|]' }}{% endif %}"
    "{% if not loop.last %}{{ '\\n' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '\\n[|assistant|]<thought>\\n' }}{% endif %}"
)
FALCON = (  # marks turns by words alone
    "{% for message in messages %}{% if not loop.first %}{{ '\\n' }}{% endif %}{% if message['role'] == 'system' %}"
    "{{ 'System: ' }}{% elif message['role'] == 'user' %}{{ 'User: ' }}{% else %}{{ 'Falcon: ' }}{% endif %}"
    "{{ message['content'] }}{% endfor %}{% if add_generation_prompt %}{{ '\\nFalcon:' }}{% endif %}"
)
HUNYUAN = (
    "{{ bos_token }}{%- for message in messages %}{%- if message.role == 'user' %}"
    "{{- '<｜hy_User｜>' + message.content }}{%- elif message.role == 'assistant' %}"
    "{{- '<｜hy_Assistant｜>' }}{%- if '<answer>' in message.content %}"
    "{{- message.content.split('<answer>')[-1].split('</answer>')[0].strip() }}{%- else %}{{- message.content }}"
    "{%- endif %}{{- '<｜hy_place▁holder▁no▁2｜>' }}{%- else %}"
    "{{- message.content + '<｜hy_place▁holder▁no▁3｜>' }}{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<｜hy_Assistant｜>' }}"
    "{%- if enable_thinking is defined and not enable_thinking %}{{- '<think>\\n\\n</think>\\n' }}"
    "{%- endif %}{%- endif %}"
)
OLMO_2 = (
    "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'system' %}"
    "{{ '<|system|>\\n' + message['content'] + '\\n' }}{% elif message['role'] == 'user' %}"
    "{{ '<|user|>\\n' + message['content'] + '\\n' }}{% else %}"
    "{{ '<|assistant|>\\n' + message['content'] + eos_token }}"
    "{% if not loop.last %}{{ '\\n' }}{% endif %}{% endif %}{% if loop.last and add_generation_prompt %}"
    "{{ '<|assistant|>\\n' }}{% endif %}{% endfor %}"
)
DEEPSEEK_V3_1 = (
    "{% if not thinking is defined %}{% set thinking = false %}{% endif %}{{ bos_token }}"
    "{%- for message in messages %}"
    "{%- if message['role'] == 'system' %}{{ message['content'] }}{%- elif message['role'] == 'user' %}"
    "{{ '<｜User｜>' + message['content'] }}{%- else %}{{ '<｜Assistant｜></think>' }}"
    "{%- set content = message['content'] %}{%- if '</think>' in content %}"
    "{%- set content = content.split('</think>', 1)[1] %}{%- endif %}"
    "{{ content + '<｜end▁of▁sentence｜>' }}{%- endif %}"
    "{%- endfor %}{%- if add_generation_prompt %}{{ '<｜Assistant｜>' }}{%- if not thinking %}"
    "{{ '</think>' }}{%- else %}"
    "{{ '<think>' }}{%- endif %}{%- endif %}"
)
ALPACA = (  # knows no add_generation_prompt
    "{% for message in messages %}{% if message['role'] == 'user' %}{{ '### Instruction:\\n' + message['content'] }}"
    "{% elif message['role'] == 'assistant' %}"
    "{{ '\\n\\n### Response:\\n' + message['content'] + eos_token + '\\n\\n' }}"
    "{% else %}{{ message['content'] + '\\n\\n' }}{% endif %}{% endfor %}"
)
LAST_QUESTION = (  # knows no conversations
    "{{ bos_token }}{% for message in messages %}{% if loop.last or message['role'] == 'assistant' %}"
    "{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
